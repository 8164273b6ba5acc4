import BLECore
import HCI

@testable import BLE

/// A scanner with a controller whose answers a test determines. Commands are written as name and parameters.
struct PlayedScanner {
    var scanner = Scanner()
    var list = AcceptList()
    var conditions = Scanner.Conditions()
    /// The events of the scanner.
    var events: [String] = []
    /// The scans that it has ended.
    var ended: Set<ScanID> = []

    init(isShared: Bool = false) { conditions.isShared = isShared }

    /// Returns the next command; nil when there is none.
    mutating func next() -> String? {
        scanner.nextCommand(under: conditions, &list).map { command in
            let opcode = command.packet.opcode
            let name = opcode.description.replacing("LE Set ", with: "").replacing(
                "Filter Accept List", with: "List")
            return ([name] + command.packet.parameters.map(\.hex)).joined(separator: " ")
        }
    }

    /// Answers the last command.
    mutating func answer(_ answer: CommandAnswer) {
        scanner.answered(answer, under: conditions, &list)
        take()
    }

    /// Sends all commands and returns them. The first are answered with `answers`, the others with success.
    mutating func settle(_ answers: CommandAnswer...) -> [String] {
        var answers = answers[...]
        var sent: [String] = []
        while let command = next(), sent.count < 50 {
            sent.append(command)
            answer(answers.popFirst() ?? .done([]))
        }
        return sent
    }

    /// Advances the time by `duration`.
    mutating func wait(_ duration: Duration) {
        conditions.now = conditions.now + duration
        if let deadline = scanner.deadline, deadline <= conditions.now {
            scanner.expire(under: conditions, list)
        }
        take()
    }

    /// Sends the shared controller commands of another program.
    mutating func others(_ commands: [HCICommandPacket], isRecovering: Bool = false) {
        for command in commands {
            var octets = command.opcode.rawValue.littleEndianOctets + [UInt8(command.parameters.count)]
            octets += command.parameters
            scanner.foreignCommand(octets.span, isRecovering: isRecovering, at: conditions.now)
        }
    }

    mutating func scan(_ options: ScanOptions = ScanOptions()) -> ScanID {
        scanner.scan(options, at: conditions.now)
    }

    mutating func end(_ id: ScanID) { scanner.end(id, at: conditions.now) }

    private mutating func take() {
        while let event = scanner.nextEvent() {
            switch event {
            case .ended(let id, let error):
                ended.insert(id)
                events.append("ended \(id.number): \(error)")
            case .searchEnded(let search, let error): events.append("ended \(search): \(error)")
            case .note(let note): events.append("\(note)")
            case .disallowedBesideConnecting: events.append("not beside connecting")
            case .changed, .log: break
            }
        }
    }
}

extension UInt16 {
    fileprivate var littleEndianOctets: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)] }
}
