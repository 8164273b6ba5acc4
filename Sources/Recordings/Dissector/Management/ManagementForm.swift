import BLEAdvertising
import BLECore
import HCI

/// What a command or event of the kernel's management interface is called and consists of (BlueZ, doc/mgmt-api.txt).
///
/// Fields are written `name:kind` with blanks between them. Kinds are numbers (`u8`, `i8`, `u16`, `u32`), `flag`, `status`,
/// `settings`, an `address`, a `peer` (an address with its type), a `key` of 128 bits, `octets3` of them, `text11`
/// that a zero ends, `fields` of advertising data with their length, `advertising` (advertising data and scan response,
/// both lengths first), the `rest`, and lists: `u16*longTermKey` is a count and so many of that element.
struct ManagementForm: Sendable {
    /// What BlueZ calls it.
    let name: String
    /// The fields of the parameters, in the notation above.
    let parameters: String
    /// What Command Complete returns.
    let returned: String

    init(_ name: String, _ parameters: String = "", returns returned: String = "") {
        (self.name, self.parameters, self.returned) = (name, parameters, returned)
    }

    /// Reads the fields that `parameters` describes.
    func fields(_ reader: inout ByteReader) throws(DecodeError) -> DecodedFields {
        try reader.fields(parameters)
    }

    /// Reads what Command Complete returns.
    func returnedFields(_ reader: inout ByteReader) throws(DecodeError) -> DecodedFields {
        try reader.fields(returned)
    }
}

extension ByteReader {
    /// The fields of a form. Older kernels send fewer fields and newer ones more: the octets may end before any field,
    /// and those behind the last are `more`.
    fileprivate mutating func fields(_ form: String) throws(DecodeError) -> DecodedFields {
        var fields = try known(form)
        if remaining > 0 { fields.append("more", .octets(rest())) }
        return fields
    }

    private mutating func known(_ form: String) throws(DecodeError) -> DecodedFields {
        var fields: DecodedFields = [:]
        for field in form.split(separator: " ") where remaining > 0 {
            let parts = field.split(separator: ":")
            guard let name = parts.first.map(String.init), let kind = parts.last else { continue }
            fields.append(name, try value(kind, name))
        }
        return fields
    }

    private mutating func value(_ kind: Substring, _ name: String) throws(DecodeError) -> FieldValue {
        switch kind {
        case "u8": .number(Int(try u8(name)))
        case "i8": .power(try i8(name))
        case "u16": .number(Int(try u16(name)))
        case "u32": .number(Int(try u32(name)))
        case "flag": .bool(try u8(name) != 0)
        case "status": .name(ManagementStatus(rawValue: try u8(name)))
        case "settings": ManagementForm.settings(try u32(name))
        case "address": .text(DeviceAddress(try u48(name), type: .public).text)
        case "peer": .text(try peer(name))
        case "key": .key(try u128(name))
        case "fields": try structures(Int(try u16(name)), name)
        case "shortFields": try structures(Int(try u8(name)), name)
        case "advertising": try advertising(name)
        case "rest": .octets(rest())
        default: try longer(kind, name)
        }
    }

    /// Kinds with a number of octets, and lists.
    private mutating func longer(_ kind: Substring, _ name: String) throws(DecodeError) -> FieldValue {
        if let star = kind.firstIndex(of: "*") {
            let count = kind[..<star] == "u8" ? Int(try u8(name)) : Int(try u16(name))
            return try list(ManagementForm.elements[String(kind[kind.index(after: star)...])] ?? "", count)
        }
        let count = Int(kind.drop { !$0.isNumber }) ?? 0
        return kind.hasPrefix("text")
            ? .text(String(decoding: try bytes(count, name).prefix { $0 != 0 }, as: UTF8.self))
            : .octets(try bytes(count, name))
    }

    private mutating func list(_ element: String, _ count: Int) throws(DecodeError) -> FieldValue {
        var values: [FieldValue] = []
        for _ in 0..<count {
            // A count that is larger than what follows is seen here, before it costs anything.
            guard remaining > 0 else {
                _ = try u8("element \(values.count + 1) of \(count)")
                break
            }
            let fields = try known(element)
            values.append(fields.all.count == 1 ? fields.all[0].value : .fields(fields))
        }
        return .list(values)
    }

    private mutating func peer(_ name: String) throws(DecodeError) -> String {
        let value = try u48(name)
        let type = try u8("type of \(name)")
        return switch type {
        case 1: DeviceAddress(value, type: .public).description
        case 2: DeviceAddress(value, type: .random).description
        default: "\(DeviceAddress(value, type: .public).text)/\(type == 0 ? "classic" : "0x\(type.hex)")"
        }
    }

    private mutating func structures(_ count: Int, _ name: String) throws(DecodeError) -> FieldValue {
        .fields(DecodedFields(summaryOf: AdvertisingData(try bytes(count, name))))
    }

    private mutating func advertising(_ name: String) throws(DecodeError) -> FieldValue {
        let count = Int(try u8("octets of \(name)"))
        let responseCount = Int(try u8("octets of the scan response"))
        return .fields([
            "advertising": try structures(count, name),
            "scanResponse": try structures(responseCount, "scan response"),
        ])
    }
}

extension ManagementForm {
    /// The names of settings that are on.
    fileprivate static func settings(_ bits: UInt32) -> FieldValue {
        let names = [
            "powered", "connectable", "fastConnectable", "discoverable", "bondable", "linkSecurity",
            "secureSimplePairing", "classic", "highSpeed", "lowEnergy", "advertising", "secureConnections",
            "debugKeys", "privacy", "controllerConfiguration", "staticAddress", "phyConfiguration",
            "widebandSpeech", "isochronousCentral", "isochronousPeripheral", "isochronousBroadcaster",
            "isochronousReceiver",
        ]
        return .list(
            (0..<32).filter { bits & 1 << $0 != 0 }.map { bit in
                .text(names.indices.contains(bit) ? names[bit] : "bit \(bit)")
            })
    }
}
