import ATT
import ArgumentParser
import BLE
import BLECore
import GATTServer
import Recordings

struct ReplayCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay the requests of a recording to a server's configuration, and compare the answers.",
        discussion: """
            No radio is used: the server that `serve` would run receives what the recorded clients sent, and \
            its answers are compared with the recorded ones, octet by octet. Differences are shown as a \
            diff, - for recorded answers and + for new ones, and the exit status is then 1. So a recording \
            can serve as a regression test. It should begin with a server that was just started: what clients \
            wrote before it is not in it.

            Values of `read:`, and of `lines:` and `file:` in `notify:`, are not in the configuration, and count \
            as equal in answers. Notified values are taken from the recording. A notification differs if the \
            client has not subscribed, if its characteristic has no `notify:` that can provide a value of this \
            length, or if the packet differs.

            An encrypted link is assumed to have the highest security level.
            """)

    @Argument(
        help: ArgumentHelp("The recording: btsnoop, pcap or pcapng.", valueName: "file"), completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("The configuration, as serve takes it.", valueName: "config.yaml"),
        completion: .file())
    var server: String

    @Option(
        name: .customLong("of"),
        help: ArgumentHelp(
            "The server to compare, if both sides were servers: host, or the peer's address.",
            valueName: "side"))
    var side: String?

    @Flag(
        help: "Replace the recorded answers with the new ones. The recording must be btsnoop.")
    var update = false

    @OptionGroup var global: PlainOptions

    var output: OutputOptions { global.output }

    func perform(_ console: Console) async throws(Failure) {
        try global.refuse(for: "replay")
        if update { try RecordedSession.refuseUpdate(of: file) }
        let configuration = try ServeConfiguration.load(server, names: Names.uuid)
        configuration.showWarnings(of: server, on: console)
        let records = try RecordedSession.records(file)
        let session = RecordedSession(configuration: configuration, name: server)
        let dialogue = try dialogue(records, console)
        let (replay, differences) = try session.play(dialogue)
        let explained = ReplayEvent.differences(differences, dialogue, of: records)
        for event in explained { console.show(event) }
        console.show(
            ReplayEvent.summary(
                server: dialogue.server, answers: replay.answers, notifications: replay.notifications,
                differences: differences.count, isUpdated: update && !differences.isEmpty))
        guard !differences.isEmpty else { return }
        guard update else {
            throw Failure(
                .input, "replay",
                "\(differences.count) of \(replay.answers + replay.notifications) "
                    + (replay.notifications > 0 ? "answers and notifications differ" : "answers differ"),
                hint: "if the new answers are right, --update records them")
        }
        try write(RecordingUpdate.records(records, differences))
    }

    /// Returns the dialogue whose recorded server is compared with the configuration.
    private func dialogue(_ records: [Record], _ console: Console) throws(Failure) -> RecordedDialogue {
        var dissector = Dissector()
        let all = RecordedDialogue.all(in: records.map { dissector.dissect($0) })
        let names = all.map { "\($0.server)" }
        guard !all.isEmpty else { throw Failure(.input, file, "it has no requests from a client") }
        if let side {
            let wanted = all.first { dialogue in
                switch dialogue.server {
                case .host: side == "host"
                case .peer(let address?):
                    DeviceAddress(side) == address || DeviceAddress.bits(side) == address.value
                case .peer(nil): false
                }
            }
            guard let wanted else {
                throw Failure(
                    .usage, "--of", "\(side.quoted) is not a server in \(file)",
                    hint: "servers in it are \(names.joined(lastBy: "and"))")
            }
            return wanted
        }
        // Both sides are often clients of each other, but one of them sends few requests.
        let most = all.max { $0.requests < $1.requests } ?? all[0]
        if all.count > 1 {
            console.note(
                "\(file) has several servers, \(names.joined(lastBy: "and")); this compares \(most.server)")
        }
        return most
    }

    private func write(_ records: [Record]) throws(Failure) {
        let isOfMonitor = records.contains { record in
            if case .note = record.content { true } else { record.adapter != 0 }
        }
        let writer = RecordingWriter(isOfMonitor ? .monitor : .h4)
        do throws(BadInput) {
            let octets = writer.header + records.compactMap(writer.encode).joined()
            try File.replace(file, with: octets, mode: 0o644)
        } catch {
            throw Failure(file, error, kind: .input)
        }
    }
}
