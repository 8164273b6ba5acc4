/// What names a message, and the wire form of its parameters.
package struct HCIDefinition<Code: Sendable, Value: Sendable>: Sendable {
    /// The opcode, event code or subevent code.
    package let code: Code
    /// The parameters' wire form.
    package let layout: HCILayout<Value>
}
