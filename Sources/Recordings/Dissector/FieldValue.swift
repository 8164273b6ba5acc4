import ATT
import BLECore
import HCI

/// The value of a field of a decoded packet, in the types of JSON.
package indirect enum FieldValue: Hashable, Sendable {
    /// The value of an optional field that is absent.
    case null
    case bool(Bool)
    case number(Int)
    /// A text. Octets, and numbers that are too large for `number`, are hexadecimal digits.
    case text(String)
    case list([FieldValue])
    /// A group of fields with names.
    case fields(DecodedFields)
    /// A value with a different form for display: 12 steps of 1.25 ms as "15 ms", a number of an enumeration
    /// as its name, and a number that represents no value as "none".
    case described(FieldValue, as: String)
}

extension FieldValue {
    /// Returns octets as hexadecimal digits.
    static func octets(_ octets: some Sequence<UInt8>) -> FieldValue { .text(octets.hex) }

    /// Returns the number of a handle.
    static func handle(_ handle: AttributeHandle) -> FieldValue { .number(Int(handle.rawValue)) }

    /// Returns the text of a value.
    static func name(_ value: some CustomStringConvertible) -> FieldValue { .text(value.description) }

    /// Returns 128 bits as hexadecimal digits, most significant digit first.
    static func key(_ value: UInt128) -> FieldValue { .text(value.hex) }
}

/// The fields of a decoded packet, in order.
package struct DecodedFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// A field: its name and value.
    package struct Field: Hashable, Sendable {
        /// The name of the field, in the style of a Swift property.
        package var name: String
        package var value: FieldValue
    }

    package private(set) var all: [Field]

    /// Creates the fields in this order.
    package init(dictionaryLiteral elements: (String, FieldValue)...) {
        all = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The value of the first field with this name.
    package subscript(name: String) -> FieldValue? { all.first { $0.name == name }?.value }

    /// Adds a field at the end.
    mutating func append(_ name: String, _ value: FieldValue) { all.append(Field(name: name, value: value)) }

    mutating func append(_ fields: DecodedFields) { all += fields.all }
}

/// Fields by reflection. HCI has hundreds of messages, each a struct whose properties have the names of its
/// fields, so reflection avoids a second list of the fields.
extension DecodedFields {
    /// Creates the fields from the stored properties of a message.
    init(reflecting message: Any) {
        self = [:]
        for child in Mirror(reflecting: message).children {
            let name = child.label ?? "value"
            append(name, FieldValue(reflecting: child.value, named: name))
        }
    }
}

extension FieldValue {
    /// Creates the JSON value that represents a value best, with a form for display if that differs.
    init(reflecting value: Any, named name: String) {
        switch value {
        case let flag as Bool: self = .bool(flag)
        // A flag with another value than 0 and 1 is set, and shown as it is.
        case let flag as HCIFlag:
            self = flag.value.map(FieldValue.bool) ?? .described(.bool(true), as: "\(flag)")
        case let octets as [UInt8]: self = .octets(octets)
        case let handle as ConnectionHandle: self = .number(Int(handle.rawValue))
        case let address as DeviceAddress: self = .address(address, named: name)
        case let address as HCIAddress:
            self = address.deviceAddress.map { .address($0, named: name) } ?? .null
        case let power as Int8: self = .power(power, unit: name == "delta" ? "dB" : "dBm")
        case let number as any FixedWidthInteger: self = FieldValue(number, named: name)
        case let values as [Any]: self = .list(values.map { FieldValue(reflecting: $0, named: name) })
        case let described as any CustomStringConvertible & HCIField: self = .name(described)
        case let mask as any OptionSet: self = FieldValue(mask: mask)
        case let time as any HCITime: self = FieldValue(time)
        case let code as any FieldWords: self = FieldValue(code)
        case let code as any RawRepresentable: self = FieldValue(reflecting: code.rawValue, named: name)
        default: self = FieldValue(unfolding: value, named: name)
        }
    }

    /// Creates a number, or hexadecimal digits for one of 64 bits or more: JSON readers round those above 2^53.
    private init(_ number: some FixedWidthInteger, named name: String) {
        self = number.bitWidth < 64 ? .number(Int(number), named: name) : .digits(number)
    }

    /// Creates the digits of a bit mask, with the words for its bits if it has them.
    private init(mask: any OptionSet) {
        guard let bits = mask.rawValue as? any FixedWidthInteger else {
            self = .text("\(mask)")
            return
        }
        let digits = Self.digits(bits)
        let word = (mask as? any FieldWords)?.word
        self = word.map { .described(digits, as: $0) } ?? digits
    }

    /// Returns all hexadecimal digits of a number, after "0x".
    private static func digits(_ number: some FixedWidthInteger) -> FieldValue {
        let digits = String(number, radix: 16)
        return .text("0x" + String(repeating: "0", count: number.bitWidth / 4 - digits.count) + digits)
    }

    /// Creates the value from the content of an optional, or from the properties of a struct.
    private init(unfolding value: Any, named name: String) {
        let mirror = Mirror(reflecting: value)
        let children = Array(mirror.children)
        switch (mirror.displayStyle, children.count) {
        case (.optional, 0): self = .null
        case (.optional, _), (.struct, 1): self = FieldValue(reflecting: children[0].value, named: name)
        case (.struct, _): self = .fields(DecodedFields(reflecting: value))
        default: self = .text("\(value)")
        }
    }
}
