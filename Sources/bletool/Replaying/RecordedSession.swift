import ATT
import BLECore
import GATTServer
import Recordings

/// A configuration in the place of a recorded server.
struct RecordedSession {
    let configuration: ServeConfiguration
    /// The name of the configuration file, for messages.
    let name: String

    /// The most octets of a recording, which is kept whole here.
    private static let limit = 256 << 20

    /// All records of a file that is not damaged.
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

    /// Refuses to write other answers into a recording that is not btsnoop, which is what would be written.
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

    /// Plays a dialogue; gives what came of it, and the differences that count.
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

    /// Handles of values that programs give.
    private var programs: Set<AttributeHandle> {
        Set(
            configuration.services.flatMap(\.characteristics)
                .filter { $0.read != nil }.map(\.valueHandle))
    }

    /// Whether only the value is different, and a program would have given it; or the program had failed.
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
