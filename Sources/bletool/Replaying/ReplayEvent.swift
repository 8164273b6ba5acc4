import BLECore
import Recordings

/// A result of `replay`: an answer that differs from the recording, or the summary.
enum ReplayEvent: Event {
    /// An answer that differs from the recorded one.
    case difference(Explained)
    /// The counts at the end of the replay.
    case summary(
        server: RecordedDialogue.Server, answers: Int, notifications: Int, differences: Int, isUpdated: Bool)

    /// A difference with its decoded packets.
    struct Explained: Sendable {
        let frame: Int
        let attribute: DecodedAttribute?
        let asked: DecodedLayer?
        let recorded: DecodedLayer?
        let ours: DecodedLayer?
    }

    /// Returns the differences with decoded packets, and with the names of attributes in the recording.
    static func differences(
        _ differences: [Replay.Difference], _ dialogue: RecordedDialogue, of records: [Record]
    ) -> [ReplayEvent] {
        let frames = Set(differences.map(\.frame))
        var attributes: [Int: DecodedAttribute] = [:]
        var dissector = Dissector()
        for record in records {
            let packet = dissector.dissect(record)
            if frames.contains(packet.frame) { attributes[packet.frame] = packet.attribute }
        }
        return differences.map { difference in
            .difference(
                Explained(
                    frame: difference.frame, attribute: attributes[difference.frame],
                    asked: layer(difference.asked), recorded: layer(difference.recorded),
                    ours: layer(difference.ours)))
        }
    }

    private static func layer(_ bytes: [UInt8]) -> DecodedLayer? { bytes.isEmpty ? nil : .att(bytes) }

    var json: JSONValue {
        switch self {
        case .difference(let difference):
            [
                "event": "difference", "frame": JSONValue(difference.frame),
                "request": Self.json(difference.asked), "recorded": Self.json(difference.recorded),
                "served": Self.json(difference.ours),
            ]
        case .summary(let server, let answers, let notifications, let differences, let isUpdated):
            [
                "event": "replayed", "server": .string("\(server)"), "answers": JSONValue(answers),
                "notifications": JSONValue(notifications), "differences": JSONValue(differences),
                "updated": JSONValue(isUpdated),
            ]
        }
    }

    private static func json(_ layer: DecodedLayer?) -> JSONValue {
        layer.map { .object(PacketJSON.members($0)) } ?? .null
    }

    func lines(colored: Bool) -> [String] {
        switch self {
        case .difference(let difference):
            let name = difference.attribute?.label.map { "  \($0)" } ?? ""
            let asked = difference.asked.map(Self.text) ?? "unasked"
            return [Style.bold("frame \(difference.frame)  \(asked)\(name.printable)", when: colored)]
                + [
                    Style.red("- " + (difference.recorded.map(Self.text) ?? "nothing"), when: colored),
                    Style.cyan("+ " + (difference.ours.map(Self.text) ?? "nothing"), when: colored),
                ]
        case .summary(let server, let answers, let notifications, let differences, let isUpdated):
            let outcome =
                differences == 0 ? "no difference" : "\(differences) differ\(isUpdated ? ", updated" : "")"
            let compared =
                "\(Self.count(answers, of: "answer")) and \(Self.count(notifications, of: "notification"))"
            return ["\(server): \(compared) compared, \(outcome)"]
        }
    }

    private static func count(_ number: Int, of thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }

    /// Returns a PDU on one line, not truncated, because the difference may be at its end.
    private static func text(_ layer: DecodedLayer) -> String {
        var text = layer.name
        PacketText.append(layer.fields, cut: .max, to: &text)
        if let problem = layer.problem { text += " \(layer.bytes.hex) problem: \(problem)" }
        return text.printable
    }
}
