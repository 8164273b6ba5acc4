import BLEAdvertising
import BLECore
import HCI

/// The name and the fields of a command or event of the kernel's management interface (BlueZ,
/// doc/mgmt-api.txt).
///
/// Fields are written as `name:kind`, separated by spaces. The kinds are numbers (`u8`, `i8`, `u16`, `u32`),
/// `flag`, `status`, `settings`, `address`, `peer` (an address with its type), `key` (128 bits), `octets3`
/// (three octets), `text11` (11 octets of text, which a zero terminates), `fields` (advertising data after
/// their length in 16 bits), `shortFields` (the same after 8 bits), `advertising` (advertising data and scan
/// response, after both lengths), `rest` (all remaining octets), and lists: `u16*longTermKey` is a 16-bit
/// count followed by that number of elements.
struct ManagementForm: Sendable {
    /// The name in BlueZ's documentation of the interface.
    let name: String
    /// The fields of the parameters, in the notation above.
    let parameters: String
    /// The layout of the parameters that Command Complete returns.
    let returned: String

    init(_ name: String, _ parameters: String = "", returns returned: String = "") {
        (self.name, self.parameters, self.returned) = (name, parameters, returned)
    }

    /// Reads the fields that `parameters` describes.
    func fields(_ reader: inout ByteReader) throws(DecodeError) -> DecodedFields {
        try reader.fields(parameters)
    }

    /// Reads the parameters that Command Complete returns.
    func returnedFields(_ reader: inout ByteReader) throws(DecodeError) -> DecodedFields {
        try reader.fields(returned)
    }
}

extension ByteReader {
    /// Reads the fields of a form. Older kernels send fewer fields, and newer kernels send more: the octets
    /// can end before any field, and octets after the last known field become the field `more`.
    @_lifetime(self: copy self)
    fileprivate mutating func fields(_ form: String) throws(DecodeError) -> DecodedFields {
        var fields = try known(form)
        if remaining > 0 { fields.append("more", .octets(rest())) }
        return fields
    }

    @_lifetime(self: copy self)
    private mutating func known(_ form: String) throws(DecodeError) -> DecodedFields {
        var fields: DecodedFields = [:]
        for field in form.split(separator: " ") where remaining > 0 {
            let parts = field.split(separator: ":")
            guard let name = parts.first.map(String.init), let kind = parts.last else { continue }
            fields.append(name, try value(kind, name))
        }
        return fields
    }

    @_lifetime(self: copy self)
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

    /// Reads a field of a kind with a number of octets, or a list.
    @_lifetime(self: copy self)
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

    @_lifetime(self: copy self)
    private mutating func list(_ element: String, _ count: Int) throws(DecodeError) -> FieldValue {
        var values: [FieldValue] = []
        for _ in 0..<count {
            // This rejects a count that exceeds the remaining octets before it consumes time or memory.
            guard remaining > 0 else {
                _ = try u8("element \(values.count + 1) of \(count)")
                break
            }
            let fields = try known(element)
            values.append(fields.all.count == 1 ? fields.all[0].value : .fields(fields))
        }
        return .list(values)
    }

    @_lifetime(self: copy self)
    private mutating func peer(_ name: String) throws(DecodeError) -> String {
        let value = try u48(name)
        let type = try u8("type of \(name)")
        return switch type {
        case 1: DeviceAddress(value, type: .public).description
        case 2: DeviceAddress(value, type: .random).description
        default: "\(DeviceAddress(value, type: .public).text)/\(type == 0 ? "classic" : "0x\(type.hex)")"
        }
    }

    @_lifetime(self: copy self)
    private mutating func structures(_ count: Int, _ name: String) throws(DecodeError) -> FieldValue {
        .fields(DecodedFields(summaryOf: AdvertisingData(try bytes(count, name))))
    }

    @_lifetime(self: copy self)
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
    /// Returns the names of the settings that are on.
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

extension ManagementForm {
    static func command(_ opcode: UInt16) -> ManagementForm? { form(opcode, in: commands) }

    static func event(_ code: UInt16) -> ManagementForm? { form(code, in: events) }

    /// Returns the form with a number; the first form has number 1.
    private static func form(_ number: UInt16, in forms: [ManagementForm]) -> ManagementForm? {
        (1...forms.count).contains(Int(number)) ? forms[Int(number) - 1] : nil
    }

    private static let commands: [ManagementForm] = [
        .init("Read Management Version Information", returns: "version:u8 revision:u16"),
        .init("Read Management Supported Commands", returns: "commandCount:u16 eventCount:u16 numbers:rest"),
        .init("Read Controller Index List", returns: "controllers:u16*index"),
        .init(
            "Read Controller Information",
            returns: """
                address:address version:u8 manufacturer:u16 supported:settings current:settings class:octets3 \
                name:text249 shortName:text11
                """),
        .init("Set Powered", "powered:flag", returns: "settings:settings"),
        .init("Set Discoverable", "discoverable:u8 timeout:u16", returns: "settings:settings"),
        .init("Set Connectable", "connectable:flag", returns: "settings:settings"),
        .init("Set Fast Connectable", "fastConnectable:flag", returns: "settings:settings"),
        .init("Set Bondable", "bondable:flag", returns: "settings:settings"),
        .init("Set Link Security", "linkSecurity:flag", returns: "settings:settings"),
        .init("Set Secure Simple Pairing", "secureSimplePairing:flag", returns: "settings:settings"),
        .init("Set High Speed", "highSpeed:flag", returns: "settings:settings"),
        .init("Set Low Energy", "lowEnergy:flag", returns: "settings:settings"),
        .init("Set Device Class", "major:u8 minor:u8", returns: "class:octets3"),
        .init("Set Local Name", "name:text249 shortName:text11", returns: "name:text249 shortName:text11"),
        .init("Add UUID", "uuid:octets16 serviceHint:u8", returns: "class:octets3"),
        .init("Remove UUID", "uuid:octets16", returns: "class:octets3"),
        .init("Load Link Keys", "debugKeys:flag keys:u16*linkKey"),
        .init("Load Long Term Keys", "keys:u16*longTermKey"),
        .init("Disconnect", "peer:peer", returns: "peer:peer"),
        .init("Get Connections", returns: "connections:u16*connection"),
        .init("PIN Code Reply", "peer:peer length:u8 pin:octets16", returns: "peer:peer"),
        .init("PIN Code Negative Reply", "peer:peer", returns: "peer:peer"),
        .init("Set IO Capability", "ioCapability:u8"),
        .init("Pair Device", "peer:peer ioCapability:u8", returns: "peer:peer"),
        .init("Cancel Pair Device", "peer:peer", returns: "peer:peer"),
        .init("Unpair Device", "peer:peer disconnect:flag", returns: "peer:peer"),
        .init("User Confirmation Reply", "peer:peer", returns: "peer:peer"),
        .init("User Confirmation Negative Reply", "peer:peer", returns: "peer:peer"),
        .init("User Passkey Reply", "peer:peer passkey:u32", returns: "peer:peer"),
        .init("User Passkey Negative Reply", "peer:peer", returns: "peer:peer"),
        .init("Read Local Out Of Band Data", returns: "hash192:key random192:key hash256:key random256:key"),
        .init(
            "Add Remote Out Of Band Data", "peer:peer hash192:key random192:key hash256:key random256:key",
            returns: "peer:peer"),
        .init("Remove Remote Out Of Band Data", "peer:peer", returns: "peer:peer"),
        .init("Start Discovery", "types:u8", returns: "types:u8"),
        .init("Stop Discovery", "types:u8", returns: "types:u8"),
        .init("Confirm Name", "peer:peer isKnown:flag", returns: "peer:peer"),
        .init("Block Device", "peer:peer", returns: "peer:peer"),
        .init("Unblock Device", "peer:peer", returns: "peer:peer"),
        .init("Set Device ID", "source:u16 vendor:u16 product:u16 version:u16"),
        .init("Set Advertising", "advertising:u8", returns: "settings:settings"),
        .init("Set BR/EDR", "classic:flag", returns: "settings:settings"),
        .init("Set Static Address", "address:address", returns: "settings:settings"),
        .init("Set Scan Parameters", "interval:u16 window:u16"),
        .init("Set Secure Connections", "secureConnections:u8", returns: "settings:settings"),
        .init("Set Debug Keys", "debugKeys:u8", returns: "settings:settings"),
        .init("Set Privacy", "privacy:u8 identityKey:key", returns: "settings:settings"),
        .init("Load Identity Resolving Keys", "keys:u16*identityKey"),
        .init(
            "Get Connection Information", "peer:peer",
            returns: "peer:peer rssi:i8 txPower:i8 maximumTxPower:i8"),
        .init(
            "Get Clock Information", "peer:peer",
            returns: "peer:peer localClock:u32 piconetClock:u32 accuracy:u16"),
        .init("Add Device", "peer:peer action:u8", returns: "peer:peer"),
        .init("Remove Device", "peer:peer", returns: "peer:peer"),
        .init("Load Connection Parameters", "parameters:u16*connectionParameters"),
        .init("Read Unconfigured Controller Index List", returns: "controllers:u16*index"),
        .init(
            "Read Controller Configuration Information",
            returns: "manufacturer:u16 supportedOptions:u32 missingOptions:u32"),
        .init("Set External Configuration", "configured:flag", returns: "missingOptions:u32"),
        .init("Set Public Address", "address:address", returns: "missingOptions:u32"),
        .init("Start Service Discovery", "types:u8 rssi:i8 uuids:u16*uuid", returns: "types:u8"),
        .init("Read Local Out Of Band Extended Data", "types:u8", returns: "types:u8 data:fields"),
        .init("Read Extended Controller Index List", returns: "controllers:u16*extendedIndex"),
        .init(
            "Read Advertising Features",
            returns: """
                supportedFlags:u32 maximumData:u8 maximumScanResponse:u8 maximumInstances:u8 instances:u8*instance
                """),
        .init(
            "Add Advertising", "instance:u8 flags:u32 duration:u16 timeout:u16 data:advertising",
            returns: "instance:u8"),
        .init("Remove Advertising", "instance:u8", returns: "instance:u8"),
        .init(
            "Get Advertising Size Information", "instance:u8 flags:u32",
            returns: "instance:u8 flags:u32 maximumData:u8 maximumScanResponse:u8"),
        .init("Start Limited Discovery", "types:u8", returns: "types:u8"),
        .init(
            "Read Extended Controller Information",
            returns: """
                address:address version:u8 manufacturer:u16 supported:settings current:settings data:fields
                """),
        .init("Set Appearance", "appearance:u16"),
        .init("Get PHY Configuration", returns: "supported:u32 configurable:u32 selected:u32"),
        .init("Set PHY Configuration", "selected:u32"),
        .init("Set Blocked Keys", "keys:u16*blockedKey"),
        .init("Set Wideband Speech", "widebandSpeech:flag", returns: "settings:settings"),
        .init("Read Controller Capabilities", returns: "octets:u16 capabilities:rest"),
        .init("Read Experimental Features Information", returns: "features:u16*experimentalFeature"),
        .init("Set Experimental Feature", "uuid:octets16 action:rest", returns: "uuid:octets16 flags:u32"),
        .init("Read Default System Configuration", returns: "parameters:rest"),
        .init("Set Default System Configuration", "parameters:rest"),
        .init("Read Default Runtime Configuration", returns: "parameters:rest"),
        .init("Set Default Runtime Configuration", "parameters:rest"),
        .init("Get Device Flags", "peer:peer", returns: "peer:peer supported:u32 current:u32"),
        .init("Set Device Flags", "peer:peer current:u32", returns: "peer:peer"),
        .init(
            "Read Advertisement Monitor Features",
            returns: "supported:u32 enabled:u32 maximumMonitors:u16 maximumPatterns:u8 monitors:u16*monitor"),
        .init("Add Advertisement Patterns Monitor", "patterns:u8*pattern", returns: "monitor:u16"),
        .init("Remove Advertisement Monitor", "monitor:u16", returns: "monitor:u16"),
        .init(
            "Add Extended Advertising Parameters",
            """
            instance:u8 flags:u32 duration:u16 timeout:u16 minimumInterval:u32 maximumInterval:u32 txPower:i8
            """,
            returns: "instance:u8 txPower:i8 maximumData:u8 maximumScanResponse:u8"),
        .init("Add Extended Advertising Data", "instance:u8 data:advertising", returns: "instance:u8"),
        .init(
            "Add Advertisement Patterns Monitor With RSSI Threshold",
            """
            highThreshold:i8 highTimer:u16 lowThreshold:i8 lowTimer:u16 samplingPeriod:u8 patterns:u8*pattern
            """,
            returns: "monitor:u16"),
        .init("Set Mesh Receiver", "isOn:flag window:u16 period:u16 types:u8*instance"),
        .init("Read Mesh Features", returns: "index:u16 maximumHandles:u8 handles:u8*instance"),
        .init(
            "Transmit Mesh Packet", "peer:peer instant:octets8 delay:u16 count:u8 data:shortFields",
            returns: "handle:u8"),
        .init("Cancel Transmit Mesh Packet", "handle:u8"),
    ]

    private static let events: [ManagementForm] = [
        .init("Command Complete", "command:u16 status:u8 parameters:rest"),
        .init("Command Status", "command:u16 status:u8"),
        .init("Controller Error", "code:u8"),
        .init("Index Added"),
        .init("Index Removed"),
        .init("New Settings", "settings:settings"),
        .init("Class Of Device Changed", "class:octets3"),
        .init("Local Name Changed", "name:text249 shortName:text11"),
        .init("New Link Key", "isKept:flag peer:peer type:u8 value:key pinLength:u8"),
        .init("New Long Term Key", "isKept:flag \(longTermKey)"),
        .init("Device Connected", "peer:peer flags:u32 data:fields"),
        .init("Device Disconnected", "peer:peer reason:u8"),
        .init("Connect Failed", "peer:peer status:status"),
        .init("PIN Code Request", "peer:peer isSecure:flag"),
        .init("User Confirmation Request", "peer:peer confirmHint:u8 value:u32"),
        .init("User Passkey Request", "peer:peer"),
        .init("Authentication Failed", "peer:peer status:status"),
        .init("Device Found", "peer:peer rssi:i8 flags:u32 data:fields"),
        .init("Discovering", "types:u8 isDiscovering:flag"),
        .init("Device Blocked", "peer:peer"),
        .init("Device Unblocked", "peer:peer"),
        .init("Device Unpaired", "peer:peer"),
        .init("Passkey Notify", "peer:peer passkey:u32 entered:u8"),
        .init("New Identity Resolving Key", "isKept:flag resolved:address peer:peer value:key"),
        .init("New Signature Resolving Key", "isKept:flag peer:peer type:u8 value:key"),
        .init("Device Added", "peer:peer action:u8"),
        .init("Device Removed", "peer:peer"),
        .init("New Connection Parameter", "isKept:flag \(connectionParameters)"),
        .init("Unconfigured Index Added"),
        .init("Unconfigured Index Removed"),
        .init("New Configuration Options", "missingOptions:u32"),
        .init("Extended Index Added", "type:u8 bus:u8"),
        .init("Extended Index Removed", "type:u8 bus:u8"),
        .init("Local Out Of Band Extended Data Updated", "types:u8 data:fields"),
        .init("Advertising Added", "instance:u8"),
        .init("Advertising Removed", "instance:u8"),
        .init("Extended Controller Information Changed", "data:fields"),
        .init("PHY Configuration Changed", "selected:u32"),
        .init("Experimental Feature Changed", "uuid:octets16 flags:u32"),
        .init("Default System Configuration Changed", "parameters:rest"),
        .init("Default Runtime Configuration Changed", "parameters:rest"),
        .init("Device Flags Changed", "peer:peer supported:u32 current:u32"),
        .init("Advertisement Monitor Added", "monitor:u16"),
        .init("Advertisement Monitor Removed", "monitor:u16"),
        .init("Controller Suspend", "state:u8"),
        .init("Controller Resume", "reason:u8 peer:peer"),
        .init("Advertisement Monitor Device Found", "monitor:u16 peer:peer rssi:i8 flags:u32 data:fields"),
        .init("Advertisement Monitor Device Lost", "monitor:u16 peer:peer"),
        .init("Mesh Packet Found", "peer:peer rssi:i8 instant:octets8 flags:u32 data:fields"),
        .init("Mesh Packet Transmit Complete", "handle:u8"),
    ]

    private static let longTermKey =
        "peer:peer type:u8 isCentral:flag size:u8 ediv:u16 random:octets8 value:key"
    private static let connectionParameters =
        "peer:peer minimumInterval:u16 maximumInterval:u16 latency:u16 timeout:u16"

    /// The elements of lists. A list whose elements have one field is a list of the values of that field.
    static let elements = [
        "index": "index:u16", "instance": "instance:u8", "monitor": "monitor:u16", "uuid": "uuid:octets16",
        "connection": "peer:peer", "extendedIndex": "index:u16 type:u8 bus:u8",
        "linkKey": "peer:peer type:u8 value:key pinLength:u8", "longTermKey": longTermKey,
        "identityKey": "peer:peer value:key", "blockedKey": "type:u8 value:key",
        "connectionParameters": connectionParameters, "experimentalFeature": "uuid:octets16 flags:u32",
        "pattern": "type:u8 offset:u8 length:u8 value:octets31",
    ]
}
