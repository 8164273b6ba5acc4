import BLE
import HCI

/// What an adapter notices about its controller, or does about it.
struct HealthEvent {
    var event: AdapterHealthEvent
    var time: Timestamp

    /// The object, among a command's results.
    var json: JSONValue {
        let (fault, command, code) = details
        return [
            "event": "health", "what": JSONValue(what), "fault": JSONValue(fault),
            "command": JSONValue(command.map { "\($0)" }), "code": JSONValue(code),
            "step": JSONValue(step), "message": JSONValue("\(event)"), "time": JSONValue(time.description),
        ]
    }

    var text: String { "\(event)" }

    /// Whether it only reports that nothing is received.
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
        case .scanRestarted, .scanTakenBack, .scanJoinedWithoutRepeats, .scanLeft, .centralTaken, .recovered:
            (nil, nil, nil)
        }
    }
}
