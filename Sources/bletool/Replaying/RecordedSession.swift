import ATT
import BLECore
import GATTServer
import Recordings

/// A configuration that takes the place of a recorded server.
struct RecordedSession {
    let configuration: ServeConfiguration
    /// The name of the configuration file, for messages.
    let name: String

    /// The maximum size of a recording in octets, because it is kept in memory as a whole.
    private static let limit = 256 << 20

    /// Reads all records of a file. Throws a failure if the file is damaged.
    static func records(_ path: String) throws(Failure) -> [Record] {
        let input = try RecordingInput(path)
        var reader = RecordingReader()
        var records: [Record] = []
        var octets = 0
        var isOpen = true
        while isOpen {
            let chunk = try input.next()
            octets += chunk.count
            guard octets <= limit else {
                throw Failure(.input, path, "has more than \(limit) octets, the limit of replay")
            }
            if chunk.isEmpty { reader.finish() } else { reader.receive(chunk.span) }
            isOpen = !chunk.isEmpty
            while let item = try next(&reader, path) {
                switch item {
                case .record(let record): records.append(record)
                case .damage(let damage): throw Failure(.input, path, "\(damage)")
                }
            }
        }
        return records
    }

    /// Rejects the update of a recording that is not btsnoop, because btsnoop is what is written.
    static func refuseUpdate(of path: String) throws(Failure) {
        guard path != "-" else {
            throw Failure(.usage, "--update", "stdin cannot be changed", hint: "name a file")
        }
        guard try RecordingInput(path).next().starts(with: "btsnoop\0".utf8) else {
            throw Failure(
                .usage, "--update", "\(path.quoted) is not btsnoop, which is what replay writes",
                hint: "bletool decode FILE --write NEW.btsnoop makes a recording that can be updated")
        }
    }

    private static func next(
        _ reader: inout RecordingReader, _ path: String
    ) throws(Failure) -> RecordingItem? {
        do throws(RecordingError) {
            return try reader.next()
        } catch {
            throw Failure(error, in: path)
        }
    }

    /// Replays a dialogue. Returns the replay, and the differences that count.
    func play(_ dialogue: RecordedDialogue) throws(Failure) -> (Replay, [Replay.Difference]) {
        do {
            let services = configuration.services.map { service in
                GATTService(service, among: configuration.services) { _ in (nil, nil) }
            }
            let server = GATTServer(
                try AttributeDatabase(services, generic: configuration.generic),
                ServerOptions(configuration))
            let mtu = ATTMTU(UInt16(clamping: configuration.mtu))
            let replay = Replay(dialogue, on: server, storesNotifications: true) { _ in mtu }
            let all = (replay.differences + replay.unsubscribedNotifications).sorted { $0.frame < $1.frame }
            return (replay, all.filter { !isOfProgram($0) })
        } catch {
            throw Failure(.input, name, "\(error)")
        }
    }

    /// The handles of values that programs provide.
    private var programs: Set<AttributeHandle> {
        Set(
            configuration.services.flatMap(\.characteristics)
                .filter { $0.read != nil }.map(\.valueHandle))
    }

    /// Returns whether only the value differs and a program provides it, or the program had failed in the
    /// recording.
    private func isOfProgram(_ difference: Replay.Difference) -> Bool {
        guard case .request(let request)? = try? ATTPDU(difference.asked),
            case .response(let recorded)? = try? ATTPDU(difference.recorded),
            case .response(let ours)? = try? ATTPDU(difference.ours)
        else { return false }
        switch request {
        case .read(let handle), .readBlob(let handle, _):
            guard programs.contains(handle) else { return false }
        default: return false
        }
        if case .error = ours { return false }
        if case .error(let error) = recorded, error.code == .unlikelyError { return true }
        return recorded.opcode == ours.opcode
    }
}
