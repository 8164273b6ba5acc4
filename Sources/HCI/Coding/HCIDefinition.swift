/// What names a message, and the wire form of its parameters.
package struct HCIDefinition<Code: Sendable, Value: Sendable>: Sendable {
    /// The opcode, event code or subevent code.
    package let code: Code
    package let layout: HCILayout<Value>
}
