import BLECore
import Glibc
import HCISocket

/// The time in which one bonded device may pair again with a server, because it has lost its keys. The owner opens
/// it with SIGUSR1, as from a script that watches a button.
final class PairingWindow: Sendable {
    /// The window of this process, which runs one server at most.
    static let ofServer = PairingWindow()
    /// The time after which an unused window closes.
    static let length = Duration.seconds(60)

    private struct State {
        var console: Console?
        /// Closes the open window; nil while it is closed.
        var closing: Task<Void, Never>?
    }

    private let state = Lock(State())

    /// Opens the window with each SIGUSR1 from now on, again for its whole length if it is open.
    func openBySignal(showing console: Console) {
        state.withLock { $0.console = console }
        SignalWatch.watch([SIGUSR1]) { [self] _ in open() }
    }

    private func open() {
        let console = state.withLock { state in
            state.closing?.cancel()
            state.closing = Task(executorPreference: EventLoop.shared) { [self] in
                if await EventLoop.shared.sleep(for: Self.length) { close(usedBy: nil) }
            }
            return state.console
        }
        _ = console?.show(PairingWindowEvent(isOpen: true))
    }

    /// Closes the window for a device, which may pair then; false if it is not open.
    func take(for peer: DeviceAddress) -> Bool { close(usedBy: peer) }

    @discardableResult
    private func close(usedBy peer: DeviceAddress?) -> Bool {
        let (closing, console) = state.withLock { ($0.closing.take(), $0.console) }
        guard let closing else { return false }
        closing.cancel()
        _ = console?.show(PairingWindowEvent(isOpen: false, central: peer))
        return true
    }
}

/// A server's window for a bonded device that pairs again was opened or closed.
struct PairingWindowEvent: Event {
    var isOpen: Bool
    /// The device that was let in; nil if the time has passed.
    var central: DeviceAddress?
    /// The time of the event, by the system's clock.
    var time = Timestamp.now

    var json: JSONValue {
        [
            "event": "pairingWindow", "open": JSONValue(isOpen),
            "seconds": isOpen ? JSONValue(PairingWindow.length.components.seconds) : nil,
            "central": JSONValue(central), "addressType": JSONValue(typeOf: central),
            "time": JSONValue("\(time)"),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let what =
            isOpen
            ? "one bonded device may pair again within \(PairingWindow.length.text)"
            : central.map { "\($0.text) may pair again" } ?? "no bonded device has paired again"
        return [
            Style.dim("\(time)", when: colored) + "  \(Style.bold("pairing window", when: colored))  \(what)"
        ]
    }
}
