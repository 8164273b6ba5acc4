/// What names a message, and the wire form of its parameters.
public struct HCIDefinition<Code: Sendable, Value: Sendable>: Sendable {
    /// The opcode, event code or subevent code.
    public let code: Code
    /// The parameters' wire form.
    public let layout: HCILayout<Value>
}
