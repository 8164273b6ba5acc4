import ATT
import BLECore
import HCI

/// What a field of a decoded packet holds, in the kinds that JSON has.
package indirect enum FieldValue: Hashable, Sendable {
    /// The value of an optional field that is absent.
    case null
    case bool(Bool)
    case number(Int)
    /// A text; octets and numbers that are too large for `number` are hexadecimal digits.
    case text(String)
    case list([FieldValue])
    /// Fields of its own.
    case fields(DecodedFields)
    /// A value that people read otherwise: 12 steps of 1.25 ms as "15 ms", a number of an enumeration by its name, and
    /// what stands for no value as "none".
    case told(FieldValue, as: String)
}

extension FieldValue {
    /// Octets as hexadecimal digits.
    static func octets(_ octets: some Sequence<UInt8>) -> FieldValue { .text(octets.hex) }

    /// The number of an attribute.
    static func handle(_ handle: AttributeHandle) -> FieldValue { .number(Int(handle.rawValue)) }

    /// The words for something.
    static func name(_ value: some CustomStringConvertible) -> FieldValue { .text(value.description) }

    /// 128 bits, most significant digit first.
    static func key(_ value: UInt128) -> FieldValue { .text(value.hex) }
}

/// The fields of a decoded packet, in order.
package struct DecodedFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// A name and its value.
    package struct Field: Hashable, Sendable {
        /// The name, like a Swift property's.
        package var name: String
        package var value: FieldValue
    }

    package private(set) var all: [Field]

    /// These fields, in this order.
    package init(dictionaryLiteral elements: (String, FieldValue)...) {
        all = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first field of this name.
    package subscript(name: String) -> FieldValue? { all.first { $0.name == name }?.value }

    /// Adds a field after the others.
    mutating func append(_ name: String, _ value: FieldValue) { all.append(Field(name: name, value: value)) }

    /// Adds fields after the others.
    mutating func append(_ fields: DecodedFields) { all += fields.all }
}
