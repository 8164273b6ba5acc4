import BLE
import BLECore

/// An event of a maintained link.
struct MaintainEvent: Event {
    var device: DeviceAddress
    var what: MaintenanceEvent
    /// The time of the event, by the system's clock.
    var time = Timestamp.now

    var json: JSONValue {
        let (name, members) = parts
        return .object(
            [
                .init("event", JSONValue(name)), .init("address", JSONValue(device)),
                .init("addressType", JSONValue(typeOf: device)),
            ] + members + [.init("time", JSONValue("\(time)"))])
    }

    func lines(colored: Bool) -> [String] {
        let head = Style.cyan(device.text, when: colored)
        switch what {
        case .found: return ["\(head) found"]
        case .connected(let session, let security):
            var words = ["\(head) connected", "link \(session)"]
            if security.level > .open {
                words += ["\(security.reached.kernelName)", "key of \(security.keySize) octets"]
            }
            if security.isBonded { words.append("bonded") }
            return [words.joined(separator: "  ")]
        case .disconnected(let session, let reason, let pause):
            return ["\(head) disconnected  link \(session)  \(reason)\(Self.text(pause))"]
        case .failed(let error, let pause):
            return ["\(head) failed  \("\(error)".printable)\(Self.text(pause))"]
        }
    }

    /// The environment variables of the program for this event, or nil if no program is run.
    var environment: [String: String]? {
        var environment = ["BLETOOL_ADDRESS": device.text, "BLETOOL_ADDRESS_TYPE": "\(device.type)"]
        switch what {
        case .connected(let session, let security):
            environment["BLETOOL_EVENT"] = "connected"
            environment["BLETOOL_SESSION"] = "\(session)"
            environment["BLETOOL_SECURITY"] = "\(security.reached.kernelName)"
        case .disconnected(let session, let reason, _):
            environment["BLETOOL_EVENT"] = "disconnected"
            environment["BLETOOL_SESSION"] = "\(session)"
            environment["BLETOOL_REASON"] = "\(reason)"
        case .found, .failed: return nil
        }
        return environment
    }

    private static func text(_ pause: Duration) -> String {
        pause == .zero ? "" : "  again in \(pause.text)"
    }

    private var parts: (name: String, members: [JSONValue.Member]) {
        switch what {
        case .found: ("found", [])
        case .connected(let session, let security):
            (
                "connected",
                [
                    .init("session", JSONValue(session)),
                    .init("level", JSONValue("\(security.reached.kernelName)")),
                    .init("keySize", JSONValue(security.keySize)),
                    .init("bonded", JSONValue(security.isBonded)),
                ]
            )
        case .disconnected(let session, let reason, let pause):
            (
                "disconnected",
                [
                    .init("session", JSONValue(session)), .init("reason", JSONValue(reason.code)),
                    .init("reasonText", JSONValue("\(reason)")),
                    .init("pause", JSONValue(milliseconds: pause)),
                ]
            )
        case .failed(let error, let pause):
            (
                "failed",
                [.init("message", JSONValue("\(error)"))] + error.bondLoss
                    + [.init("pause", JSONValue(milliseconds: pause))]
            )
        }
    }
}

extension BLEError {
    /// The member of a failure that means that the device does not have the key of its bond.
    fileprivate var bondLoss: [JSONValue.Member] {
        if case .bondLost = self { [.init("bondLost", JSONValue(true))] } else { [] }
    }
}

extension DisconnectReason {
    /// The controller's code, if it is known.
    fileprivate var code: Int? {
        if case .status(let status) = self { Int(status.rawValue) } else { nil }
    }
}
