import BLECore
import HCI

/// The content of the records of a btsnoop file.
package enum BTSnoopDatalink: UInt32, Hashable, Sendable {
    /// HCI packets without their type; the flags distinguish commands and events from data.
    case h1 = 1001
    /// HCI packets in H4 format, which Android and most other recorders write.
    case h4 = 1002
    /// The Linux monitor channel, which btmon writes.
    case monitor = 2001
}

/// The first 16 octets of a btsnoop file: the magic, the version and the datalink, most significant octet
/// first.
struct BTSnoopHeader: Hashable, Sendable {
    static let magic = [UInt8]("btsnoop\0".utf8)
    static let version: UInt32 = 1
    static let count = 16

    var datalink: BTSnoopDatalink

    var encoded: [UInt8] {
        [UInt8](capacity: Self.count) { output in
            output.bytes(Self.magic)
            output.u32(Self.version.byteSwapped)
            output.u32(datalink.rawValue.byteSwapped)
        }
    }
}

/// The records of a btsnoop file.
struct BTSnoop: RecordFormat {
    var datalink: BTSnoopDatalink

    /// The flags of records in files with datalink 1001 or 1002.
    private static let fromController: UInt32 = 1
    private static let commandOrEvent: UInt32 = 2

    var headerCount: Int { 24 }
    var isOfMonitor: Bool { datalink == .monitor }

    private var leastBody: Int {
        switch datalink {
        case .h1: 2
        case .h4: 1
        case .monitor: 0
        }
    }

    func header(_ reader: inout ByteReader) throws(DecodeError) -> RecordHeader {
        let original = try reader.bigEndian32("original length")
        let included = try reader.bigEndian32("included length")
        let flags = try reader.bigEndian32("flags")
        // Without this check, a run of zeros would be read as a series of new adapters without a name.
        let reserved = datalink == .monitor ? flags & 0xff00 != 0 || (flags == 0 && included == 0) : flags > 3
        guard !reserved else { throw reader.invalid("flags", value: flags, width: 4) }
        let drops = try reader.bigEndian32("cumulative drops")
        let time = RecordingTime(btsnoop: Int64(bitPattern: try reader.u64("timestamp").byteSwapped))
        return try RecordHeader(
            included: included, original: original, least: leastBody, time: time, flags: flags, drops: drops,
            reader)
    }

    func record(_ header: RecordHeader, _ body: Span<UInt8>) -> Record? {
        let (adapter, content) = contents(header.flags, body)
        return Record(
            time: header.time, adapter: adapter, content: content, missing: header.missing,
            drops: header.drops)
    }

    private func contents(_ flags: UInt32, _ body: Span<UInt8>) -> (adapter: UInt16, content: Record.Content)
    {
        let direction: Record.Direction =
            flags & Self.fromController == 0 ? .hostToController : .controllerToHost
        switch datalink {
        case .h4:
            return (0, .packet(direction, [UInt8](copying: body)))
        case .h1:
            let control: HCIPacketType = direction == .hostToController ? .command : .event
            let type = flags & Self.commandOrEvent == 0 ? .acl : control
            return (0, .packet(direction, [UInt8](type.rawValue, then: body)))
        case .monitor:
            let opcode = MonitorOpcode(rawValue: UInt16(truncatingIfNeeded: flags))
            let adapter = UInt16(truncatingIfNeeded: flags >> 16)
            return (adapter, Record.Content(opcode, body))
        }
    }

    /// Returns the record in the file's format; nil if the datalink cannot represent it. Only monitor files
    /// contain notes, and they do not support every packet type in both directions.
    func encoded(_ record: Record) -> [UInt8]? {
        guard let (flags, body) = flagsAndBody(record) else { return nil }
        let included = UInt32(clamping: body.count)
        let original = included &+ min(UInt32(clamping: record.missing), .max &- included)
        return [UInt8](capacity: headerCount + body.count) { output in
            for word in [original, included, flags, record.drops] { output.u32(word.byteSwapped) }
            output.u64(UInt64(bitPattern: record.time.btsnoop).byteSwapped)
            output.bytes(body)
        }
    }

    private func flagsAndBody(_ record: Record) -> (flags: UInt32, body: ArraySlice<UInt8>)? {
        let adapter = UInt32(record.adapter) << 16
        switch record.content {
        case .note(let opcode, let bytes):
            return datalink == .monitor ? (adapter | UInt32(opcode.rawValue), bytes[...]) : nil
        case .packet(let direction, let bytes):
            guard let type = bytes.first.map(HCIPacketType.init(rawValue:)) else { return nil }
            if datalink == .monitor {
                let opcode = MonitorOpcode(direction: direction, type: type)
                return opcode.map { (adapter | UInt32($0.rawValue), bytes.dropFirst()) }
            }
            let control = type == .command || type == .event
            let flags =
                (direction == .controllerToHost ? Self.fromController : 0)
                | (control ? Self.commandOrEvent : 0)
            return (flags, datalink == .h1 ? bytes.dropFirst() : bytes[...])
        }
    }
}

extension Array where Element == UInt8 {
    init(_ first: UInt8, then rest: Span<UInt8>) {
        self.init(capacity: rest.count + 1) { output in
            output.u8(first)
            output.bytes(rest)
        }
    }
}
