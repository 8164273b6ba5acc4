import BLECore

/// Parameters that are decoded and encoded by a layout.
package protocol HCIParameters: PacketCodable, Hashable {
    /// The fields in the order of the wire.
    static var layout: HCILayout<Self> { get }
}

extension HCIParameters {
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        self = try Self.layout.decode(&reader)
    }

    /// The sum of the fields' widths, in octets.
    package var encodedCount: Int { Self.layout.count(self) }

    package func encode(into output: inout OutputSpan<UInt8>) { Self.layout.encode(self, &output) }
}

/// The parameters of a message without a type of its own, kept as they were received.
package struct UnknownParameters: HCIParameters {
    package static let layout = HCILayout("Parameters", { (rest: Remainder) in Self(octets: rest.octets) }) {
        Remainder($0.octets)
    }
    package static let packetName = "parameters"

    package var octets: [UInt8]

    package init(octets: [UInt8]) { self.octets = octets }
}

/// Parameters can be fields of other parameters.
extension HCIField where Self: HCIParameters {
    package init(reading reader: inout ByteReader) throws(DecodeError) { try self.init(decoding: &reader) }

    /// The sum of the fields' widths, in octets.
    package var fieldWidth: Int { encodedCount }

    package func write(into output: inout OutputSpan<UInt8>) { encode(into: &output) }
}

/// The code of a message, and the encoding of its parameters.
package struct HCIDefinition<Code: Sendable, Value: Sendable>: Sendable {
    /// The opcode, event code or subevent code.
    package let code: Code
    package let layout: HCILayout<Value>
}

/// An error for a value that does not fit into its field when a message is created.
package struct HCIParameterError: Error, Hashable, Sendable {
    /// The name of the parameter in the specification, for example "Advertising_Data".
    package let field: String
    /// The value that exceeds `limit`, for example a count of octets.
    package let value: Int
    /// The maximum number of octets or elements in the parameter.
    package let limit: Int

    /// Creates an error for a `value` that exceeds `limit`.
    package init(field: String, value: Int, limit: Int) {
        (self.field, self.value, self.limit) = (field, value, limit)
    }
}

extension HCIParameterError: CustomStringConvertible {
    /// The error as text: "Advertising_Data: 32 is more than the limit of 31".
    package var description: String { "\(field): \(value) is more than the limit of \(limit)" }
}
