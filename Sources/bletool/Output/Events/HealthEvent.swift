import BLE
import HCI
import HCISocket

/// An event of a controller's health, or of its recovery by the adapter.
struct HealthEvent {
    var event: AdapterHealthEvent
    var time: Timestamp

    /// The JSON object among a command's results.
    var json: JSONValue {
        let (fault, command, code) = details
        return [
            "event": "health", "what": JSONValue(what), "fault": JSONValue(fault),
            "command": JSONValue(command.map { "\($0)" }), "code": JSONValue(code),
            "step": JSONValue(step), "message": JSONValue("\(event)"), "time": JSONValue(time.description),
        ]
    }

    var text: String { "\(event)" }

    /// Whether the event only reports that nothing was received.
    var isQuiet: Bool {
        if case .scanRestarted = event { return true }
        return false
    }

    private var what: String {
        switch event {
        case .scanRestarted: "scan-restarted"
        case .scanTakenBack: "scan-taken-back"
        case .scanJoinedWithoutRepeats: "scan-joined"
        case .scanLeft: "scan-left"
        case .scanPostponed: "scan-postponed"
        case .centralTaken: "central-taken"
        case .recovering: "recovering"
        case .postponed: "postponed"
        case .answersAgain: "answers-again"
        case .recovered: "recovered"
        case .gaveUp: "gave-up"
        }
    }

    private var step: String? {
        switch event {
        case .recovering(_, .reset), .recovered(.reset): "reset"
        case .recovering(_, .powerCycle), .recovered(.powerCycle): "power-cycle"
        default: nil
        }
    }

    private var details: (fault: String?, command: HCIOpcode?, code: UInt8?) {
        switch event {
        case .recovering(let fault, _), .postponed(let fault, _), .gaveUp(let fault):
            switch fault {
            case .silence(let command): ("silence", command, nil)
            case .hardwareError(let code): ("hardware-error", nil, code)
            case .lineLost: ("line-lost", nil, nil)
            }
        case .answersAgain(let command): (nil, command, nil)
        case .scanRestarted, .scanTakenBack, .scanJoinedWithoutRepeats, .scanLeft, .scanPostponed,
            .centralTaken,
            .recovered:
            (nil, nil, nil)
        }
    }
}

/// Shows the health events of a controller: as messages on stderr and, from the start of a command's results,
/// with `--json` also as objects.
final class HealthWatch: Sendable {
    private let console: Console
    private let isAmongResults = Lock(false)
    private let watch = Lock<Task<Void, Never>?>(nil)

    init(_ adapter: Adapter, console: Console) {
        self.console = console
        let stream = adapter.health()
        let task = Task { await self.emit(stream) }
        watch.withLock { $0 = task }
    }

    /// Shows events with `--json` also as objects from now on.
    func showAmongResults() { isAmongResults.withLock { $0 = true } }

    /// Returns when all events were shown, which requires that the adapter is closed.
    func end() async { await watch.withLock { $0.take() }?.value }

    private func emit(_ stream: BoundedStream<AdapterHealthEvent>) async {
        var wasQuiet = false
        do {
            for try await event in stream {
                let shown = HealthEvent(event: event, time: .now)
                if console.isJSON, isAmongResults.withLock({ $0 }) { console.output.line(shown.json) }
                // Consecutive reports that nothing was received are shown only once.
                if !shown.isQuiet || !wasQuiet { console.note(shown.text) }
                wasQuiet = shown.isQuiet
            }
        } catch {
            // The error that ends the adapter also ends the command, which reports it.
        }
    }
}
