import ATT
import BLECore
import GATTServer

/// What a server keeps of a client, in a bond's file.
extension GATTClientRecord {
    func write(to writer: inout TextWriter) {
        writer.line("client-features", "0x\(features.rawValue.hex)")
        if !databaseHash.isEmpty { writer.line("client-hash", databaseHash.hex) }
        writer.line("client-aware", "\(isChangeAware)")
        if let range = unreportedChange { writer.line("client-changed", "\(range.start)", "\(range.end)") }
        writer.line("client-sign-counter", "\(signCounter)")
        for (handle, configuration) in configurations.sorted(by: { $0.key < $1.key }) {
            writer.line("client-configuration", "\(handle)", "0x\(configuration.rawValue.hex)")
        }
    }

    mutating func read(_ line: TextSection.Line) throws(TextError) {
        switch line.key {
        case "client-features":
            features = ClientSupportedFeatures(rawValue: try line.value(TextValue.bits))
        case "client-hash": databaseHash = try line.value { [UInt8](hex: $0) }
        case "client-aware": isChangeAware = try line.value { Bool(String($0)) }
        case "client-changed":
            let words = try line.values(2)
            unreportedChange = AttributeRange(
                try line.value(of: words[0], TextValue.handle),
                try line.value(of: words[1], TextValue.handle))
        case "client-sign-counter": signCounter = try line.value { UInt32($0) }
        case "client-configuration":
            let words = try line.values(2)
            let handle = try line.value(of: words[0], TextValue.handle)
            configurations[handle] = ClientCharacteristicConfiguration(
                rawValue: try line.value(of: words[1], TextValue.bits))
        default: throw line.isUnknown
        }
    }
}
