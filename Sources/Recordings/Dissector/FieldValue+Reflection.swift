import BLECore
import HCI

/// HCI has hundreds of messages, each a struct whose properties are its fields and bear their names; so the
/// fields of a message are found by reflection instead of being listed again.
extension DecodedFields {
    /// The stored properties of a message.
    init(reflecting message: Any) {
        self = [:]
        for child in Mirror(reflecting: message).children {
            let name = child.label ?? "value"
            append(name, FieldValue(reflecting: child.value, named: name))
        }
    }
}

extension FieldValue {
    /// The kind of JSON that shows a value best, and how people read it where that is otherwise.
    init(reflecting value: Any, named name: String) {
        switch value {
        case let flag as Bool: self = .bool(flag)
        case let octets as [UInt8]: self = .octets(octets)
        case let handle as ConnectionHandle: self = .number(Int(handle.rawValue))
        case let address as DeviceAddress: self = .address(address, named: name)
        case let address as HCIAddress:
            self = address.deviceAddress.map { .address($0, named: name) } ?? .null
        case let power as Int8: self = .power(power, unit: name == "delta" ? "dB" : "dBm")
        case let number as any FixedWidthInteger: self = FieldValue(number, named: name)
        case let values as [Any]: self = .list(values.map { FieldValue(reflecting: $0, named: name) })
        case let described as any CustomStringConvertible & HCIField: self = .name(described)
        case let time as any HCITime: self = FieldValue(time)
        case let code as any FieldWords: self = FieldValue(code)
        case let code as any RawRepresentable: self = FieldValue(reflecting: code.rawValue, named: name)
        default: self = FieldValue(unfolding: value, named: name)
        }
    }

    private init(_ number: some FixedWidthInteger, named name: String) {
        self =
            Int(exactly: number).map { .number($0, named: name) } ?? .text("0x" + String(number, radix: 16))
    }

    /// What is inside an optional, a struct with one property, or one with more.
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
