extension ManagementForm {
    /// The command of that opcode.
    static func command(_ opcode: UInt16) -> ManagementForm? { form(opcode, in: commands) }

    /// The event of that code.
    static func event(_ code: UInt16) -> ManagementForm? { form(code, in: events) }

    /// The forms begin with that of number 1.
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

    /// What lists are made of. Those with one field are lists of its values.
    static let elements = [
        "index": "index:u16", "instance": "instance:u8", "monitor": "monitor:u16", "uuid": "uuid:octets16",
        "connection": "peer:peer", "extendedIndex": "index:u16 type:u8 bus:u8",
        "linkKey": "peer:peer type:u8 value:key pinLength:u8", "longTermKey": longTermKey,
        "identityKey": "peer:peer value:key", "blockedKey": "type:u8 value:key",
        "connectionParameters": connectionParameters, "experimentalFeature": "uuid:octets16 flags:u32",
        "pattern": "type:u8 offset:u8 length:u8 value:octets31",
    ]
}
