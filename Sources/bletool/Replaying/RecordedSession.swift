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
                case .damage(let damage):
                    throw Failure(
                        .input, path, "\(damage)",
                        hint: "bletool decode FILE --write NEW.btsnoop keeps the packets that can be read")
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
            let replay = Replay(
                dialogue, on: server, storesNotifications: true, canNotify: canNotify
            ) { _ in mtu }
            let all = (replay.differences + replay.unsubscribedNotifications).sorted { $0.frame < $1.frame }
            return (replay, all.filter { !isProvided($0) })
        } catch {
            throw Failure(.input, name, "\(error)")
        }
    }

    /// Returns a function that returns whether the source in `notify:` of a value can provide this value, as far
    /// as its length shows. Values outside the configuration, as Service Changed, have no such source.
    private var canNotify: (AttributeHandle, [UInt8]) -> Bool {
        let sources = Dictionary(
            configuration.services.flatMap(\.characteristics).map { ($0.valueHandle, $0.notify) },
            uniquingKeysWith: { first, _ in first })
        return { handle, value in
            guard let source = sources[handle] else { return true }
            return source?.canProvide(octets: value.count) ?? false
        }
    }

    /// The handles of values that programs and files can change while no client has subscribed. Those of
    /// `notify: {every: …}` change only with a notification, which the recording contains.
    private var provided: Set<AttributeHandle> {
        Set(
            configuration.services.flatMap(\.characteristics).filter { characteristic in
                switch characteristic.notify {
                case .lines, .file: true
                case .every, nil: characteristic.read != nil
                }
            }.map(\.valueHandle))
    }

    /// Returns whether only values of the configuration differ, or the program of one had failed in the
    /// recording.
    private func isProvided(_ difference: Replay.Difference) -> Bool {
        guard case .request(let request)? = try? ATTPDU(difference.asked),
            case .response(let recorded)? = try? ATTPDU(difference.recorded),
            case .response(let ours)? = try? ATTPDU(difference.ours)
        else { return false }
        if case .error = ours { return false }
        if case .error(let error) = recorded {
            return error.code == .unlikelyError && provided.contains(error.handle)
        }
        switch (request, recorded, ours) {
        case (.read(let handle), .read, .read), (.readBlob(let handle, _), .readBlob, .readBlob):
            return provided.contains(handle)
        case (.readMultiple(let handles), .readMultiple, .readMultiple):
            // The response does not contain the lengths of the values.
            return !provided.isDisjoint(with: handles)
        case (
            .readMultipleVariable(let handles), .readMultipleVariable(let recorded),
            .readMultipleVariable(let ours)
        ):
            return zip(handles, zip(recorded, ours)).allSatisfy { handle, values in
                provided.contains(handle) || values.0 == values.1
            }
        case (.readByType, .readByType(let recorded), .readByType(let ours)):
            return isProvided(recorded, ours)
        default: return false
        }
    }

    /// Returns whether only values of the configuration differ in two responses to Read By Type.
    private func isProvided(
        _ recorded: ATTEntryList<ATTAttributeData>, _ ours: ATTEntryList<ATTAttributeData>
    ) -> Bool {
        for (recorded, ours) in zip(recorded, ours) where recorded != ours {
            guard recorded.handle == ours.handle, provided.contains(ours.handle) else { return false }
        }
        // The length of the first value determines which of the next attributes are in the response.
        guard recorded.count != ours.count, recorded.entryLength == ours.entryLength else { return true }
        let next = recorded.count > ours.count ? recorded[ours.count] : ours[recorded.count]
        return provided.contains(next.handle)
    }
}
