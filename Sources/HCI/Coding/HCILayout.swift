import BLECore

/// The wire form of a value: its fields in order, told once, for reading, measuring and writing alike.
///
/// ```swift
/// static let layout = HCILayout("handle, reason", Self.init) { ($0.connection, $0.reason) }
/// ```
/// The text names the fields for errors, the initializer takes them in the order of the wire, and the
/// closure gives them in that order.
public struct HCILayout<Value: Sendable>: Sendable {
    let decode: @Sendable (inout ByteReader) throws(DecodeError) -> Value
    let count: @Sendable (Value) -> Int
    let encode: @Sendable (Value, inout OutputSpan<UInt8>) -> Void

    init<each Field: HCIField>(
        _ names: StaticString, _ make: @escaping @Sendable (repeat each Field) -> Value,
        _ fields: @escaping @Sendable (Value) -> (repeat each Field)
    ) {
        decode = { (reader: inout ByteReader) throws(DecodeError) -> Value in
            var index = 0
            do throws(DecodeError) {
                return make(repeat try next((each Field).self, &reader, &index))
            } catch {
                throw named(error, names, index)
            }
        }
        count = { value in
            var count = 0
            for field in repeat each fields(value) { count += field.fieldWidth }
            return count
        }
        encode = { value, output in
            for field in repeat each fields(value) { field.write(into: &output) }
        }
    }
}

/// Reads a field and counts it.
private func next<Field: HCIField>(
    _: Field.Type, _ reader: inout ByteReader, _ index: inout Int
) throws(DecodeError) -> Field {
    let field = try Field(reading: &reader)
    index += 1
    return field
}

/// The error with the field's name filled in, the one at `index` of the comma-separated `names`.
private func named(_ error: DecodeError, _ names: StaticString, _ index: Int) -> DecodeError {
    guard error.field.isEmpty else { return error }
    var error = error
    let all = names.description.split(separator: ",")
    error.field = index < all.count ? String(all[index].drop { $0 == " " }) : "field \(index + 1)"
    return error
}

/// Parameters that a layout reads and writes.
public protocol HCIParameters: PacketCodable, Hashable {
    /// The fields in the order of the wire.
    static var layout: HCILayout<Self> { get }
}

extension HCIParameters {
    /// Reads the fields in order.
    public init(decoding reader: inout ByteReader) throws(DecodeError) {
        self = try Self.layout.decode(&reader)
    }

    /// The fields' widths, added up.
    public var encodedCount: Int { Self.layout.count(self) }

    /// Writes the fields in order.
    public func encode(into output: inout OutputSpan<UInt8>) { Self.layout.encode(self, &output) }
}

/// Parameters of a message that has no type of its own, kept as they came.
public struct UnknownParameters: HCIParameters {
    /// The octets.
    public static let layout = HCILayout("octets", { (rest: Remainder) in Self(octets: rest.octets) }) {
        Remainder($0.octets)
    }
    /// For errors.
    public static let packetName = "parameters"

    /// The octets.
    public var octets: [UInt8]

    /// Those octets.
    public init(octets: [UInt8]) { self.octets = octets }
}

/// Parameters can be part of others.
extension HCIField where Self: HCIParameters {
    /// Reads the fields in order.
    public init(reading reader: inout ByteReader) throws(DecodeError) { try self.init(decoding: &reader) }

    /// The fields' widths, added up.
    public var fieldWidth: Int { encodedCount }

    /// Writes the fields in order.
    public func write(into output: inout OutputSpan<UInt8>) { encode(into: &output) }
}

/// What names a message, and the wire form of its parameters.
public struct HCIDefinition<Code: Sendable, Value: Sendable>: Sendable {
    /// The opcode, event code or subevent code.
    public let code: Code
    /// The parameters' wire form.
    public let layout: HCILayout<Value>
}

/// A value that does not fit into its field, found while a message was being made.
public struct HCIParameterError: Error, Hashable, Sendable {
    /// The field.
    public let field: String
    /// What was given.
    public let value: Int
    /// What is possible at most.
    public let limit: Int

    /// The error for a `value` beyond `limit`.
    public init(field: String, value: Int, limit: Int) {
        (self.field, self.value, self.limit) = (field, value, limit)
    }
}

extension HCIParameterError: CustomStringConvertible {
    /// "advertising data: 32 is more than the limit of 31".
    public var description: String { "\(field): \(value) is more than the limit of \(limit)" }
}
