import BLECore
import Glibc
import HCI
import Recordings

/// Writes the packets that the filters select to a recording, unchanged.
///
/// The filters select a frame by the packet that completes it. The fragments before that packet are kept
/// until then, so that the copy contains the whole frame.
struct RecordingCopy {
    private struct Way: Hashable {
        let adapter: UInt16
        let connection: ConnectionHandle
        let direction: Record.Direction
    }

    private let target: RecordingTarget
    private var writer: RecordingWriter?
    private var octets: [UInt8] = []
    private var fragments: [Way: [Record]] = [:]
    private var written = 0
    private var leftOut = 0

    /// The limits of directions and fragments. Only a damaged recording exceeds them.
    private static let wayLimit = 512
    private static let fragmentLimit = 4096

    init(_ target: RecordingTarget) { self.target = target }

    /// Adds the next packet. The first one determines the format of the recording.
    mutating func add(
        _ record: Record, _ packet: DecodedPacket, isChosen: Bool, _ datalink: BTSnoopDatalink
    ) throws(Failure) {
        var record = record
        // The dissector determines the direction more reliably than a file that does not record it.
        if case .packet(_, let bytes) = record.content, let direction = packet.direction {
            record.content = .packet(direction, bytes)
        }
        let begun = fragments(before: packet, record, isChosen: isChosen)
        guard isChosen else { return }
        try begin(datalink)
        for record in begun + [record] {
            guard let encoded = writer?.encode(record) else {
                leftOut += 1
                continue
            }
            octets += encoded
            written += 1
        }
    }

    /// Returns the fragments that a packet completes. Keeps a fragment whose frame may be selected later.
    private mutating func fragments(
        before packet: DecodedPacket, _ record: Record, isChosen: Bool
    ) -> [Record] {
        guard let connection = packet.connection, let direction = packet.direction,
            case let bytes = packet.outer.bytes, bytes.count > 2, bytes[0] == HCIPacketType.acl.rawValue
        else { return [] }
        let way = Way(adapter: packet.adapter, connection: connection, direction: direction)
        let isContinuation = bytes[2] >> 4 & 0b11 == ACLPacket.Boundary.continuing.rawValue
        let begun = isContinuation ? fragments[way] ?? [] : []
        fragments[way] = nil
        guard !isChosen else { return begun }
        if packet.isFragment, fragments.count < Self.wayLimit, begun.count < Self.fragmentLimit {
            fragments[way] = begun + [record]
        }
        return []
    }

    private mutating func begin(_ datalink: BTSnoopDatalink) throws(Failure) {
        guard writer == nil else { return }
        try target.begin()
        let writer = RecordingWriter(datalink)
        octets = writer.header
        self.writer = writer
    }

    /// Writes the packets that were added. Returns false when the output has no reader any more.
    mutating func flush() throws(Failure) -> Bool {
        defer { octets = [] }
        guard !octets.isEmpty else { return true }
        return try target.write(octets)
    }

    /// Writes the rest. A recording without packets consists of its header.
    mutating func finish(_ datalink: BTSnoopDatalink) throws(Failure) {
        try begin(datalink)
        _ = try flush()
    }

    /// The notes for the user about written and left out packets.
    var notes: [String] {
        let all = target.path == "-" ? [] : ["\(target.path): \(written) packets written"]
        guard leftOut > 0 else { return all }
        return all + [
            "\(target.path): \(leftOut) packets left out that the file format of the first packet cannot hold"
        ]
    }
}

/// A new recording that `decode --write` makes.
final class RecordingTarget: Sendable {
    /// The path of the file; `-` is stdout.
    let path: String
    private let descriptor: CInt

    /// Opens or creates the file. An existing file keeps its contents until `begin()` is called.
    init(_ path: String) throws(Failure) {
        if path == "-" { try LineWriter.output.refuseOctets("--write -") }
        if path != "-" { try RecordingFile.refuseOtherContent(of: path, "--write") }
        self.path = path
        descriptor = path == "-" ? dup(STDOUT_FILENO) : RecordingFile.open(path, keepsContent: true)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
    }

    deinit { close(descriptor) }

    /// Truncates an existing file. A pipe has no old contents, and output to stdout can follow what it
    /// contains.
    func begin() throws(Failure) {
        guard path == "-" || ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
            throw Self.failure(path, errno)
        }
    }

    /// Writes octets. Returns false when the output has no reader any more.
    func write(_ octets: [UInt8]) throws(Failure) -> Bool {
        guard let problem = File.write(octets, to: descriptor) else { return true }
        if problem == EPIPE, path == "-" { return false }
        throw Self.failure(path, problem)
    }

    private static func failure(_ path: String, _ problem: CInt) -> Failure {
        let kind: Failure.Kind = problem == EACCES ? .permission : .input
        return Failure(kind, "--write \(path)", RecordingFile.reason(problem))
    }
}
