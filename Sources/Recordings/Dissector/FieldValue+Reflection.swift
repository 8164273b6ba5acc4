import BLECore
import HCI

/// HCI has hundreds of messages, each a struct whose properties are its fields and bear their names; so the
/// fields of a message are found by reflection instead of being told once more.
extension DecodedFields {
    /// The stored properties of a message.
    init(reflecting message: Any) {
        self = [:]
        for child in Mirror(reflecting: message).children {
            append(child.label ?? "value", FieldValue(reflecting: child.value))
        }
    }
}

extension FieldValue {
    /// The kind of JSON that shows a value best.
    init(reflecting value: Any) {
        switch value {
        case let flag as Bool: self = .bool(flag)
        case let octets as [UInt8]: self = .octets(octets)
        case let handle as ConnectionHandle: self = .number(Int(handle.rawValue))
        case let address as DeviceAddress: self = .name(address)
        case let address as HCIAddress: self = address.deviceAddress.map { .name($0) } ?? .null
        case let number as any FixedWidthInteger: self = FieldValue(number)
        case let values as [Any]: self = .list(values.map { FieldValue(reflecting: $0) })
        case let described as any CustomStringConvertible & HCIField: self = .name(described)
        case let code as any RawRepresentable: self = FieldValue(reflecting: code.rawValue)
        default: self = FieldValue(unfolding: value)
        }
    }

    private init(_ number: some FixedWidthInteger) {
        self = Int(exactly: number).map { .number($0) } ?? .text("0x" + String(number, radix: 16))
    }

    /// What is inside an optional, a struct with one property, or one with more.
    private init(unfolding value: Any) {
        let mirror = Mirror(reflecting: value)
        let children = Array(mirror.children)
        switch (mirror.displayStyle, children.count) {
        case (.optional, 0): self = .null
        case (.optional, _), (.struct, 1): self = FieldValue(reflecting: children[0].value)
        case (.struct, _): self = .fields(DecodedFields(reflecting: value))
        default: self = .text("\(value)")
        }
    }
}
