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

    private enum Phase {
        case closed, open
        /// A device is pairing. If that fails, the window is open again for the rest of its time.
        case taken(by: DeviceAddress, isOver: Bool)
    }

    private struct State {
        var phase = Phase.closed
        /// Where events are shown; nil before the server is ready.
        var console: Console?
        /// Whether the window is to be opened when the server is ready.
        var isWanted = false
        /// The number of times that the window was opened.
        var openings = 0
    }

    private let state = Lock(State())
    private let loop: EventLoop

    init(on loop: EventLoop = .shared) { self.loop = loop }

    /// Handles SIGUSR1 from now on: if `opens` is false, by a note. Without a handler, the signal would end a server
    /// that does not expect it.
    func handleSignal(opens: Bool, _ console: Console) {
        SignalWatch.watch([SIGUSR1]) { [self] _ in
            guard opens else {
                return console.note(
                    "SIGUSR1 lets no device pair again: that needs security: {replace: window}")
            }
            open()
        }
    }

    /// Begins to show events, because the server is ready. A signal that came before takes effect now.
    func serverIsReady(_ console: Console) {
        let isWanted = state.withLock { state in
            state.console = console
            return state.isWanted
        }
        if isWanted { open() }
    }

    /// Opens the window, again for its whole length if it is open.
    func open() {
        let opened: (console: Console, number: Int)? = state.withLock { state in
            guard let console = state.console else {
                state.isWanted = true
                return nil
            }
            state.openings += 1
            state.phase = .open
            return (console, state.openings)
        }
        guard let (console, number) = opened else { return }
        _ = console.show(PairingWindowEvent(isOpen: true))
        Task(executorPreference: loop) { [self] in
            if await loop.sleep(for: Self.length) { timeIsOver(number) }
        }
    }

    private func timeIsOver(_ number: Int) {
        let console: Console? = state.withLock { state in
            guard state.openings == number else { return nil }
            switch state.phase {
            case .open:
                state.phase = .closed
                return state.console
            case .taken(let peer, _): state.phase = .taken(by: peer, isOver: true)
            case .closed: break
            }
            return nil
        }
        _ = console?.show(PairingWindowEvent(isOpen: false))
    }

    /// Takes the window for a device, which may pair then; false if it is not open.
    func take(for peer: DeviceAddress) -> Bool {
        state.withLock { state in
            guard case .open = state.phase else { return false }
            state.phase = .taken(by: peer, isOver: false)
            return true
        }
    }

    /// Notes that a central has bonded, which closes a window that was taken.
    func bonded(_ central: DeviceAddress) {
        let console: Console? = state.withLock { state in
            guard case .taken = state.phase else { return nil }
            state.phase = .closed
            return state.console
        }
        _ = console?.show(PairingWindowEvent(isOpen: false, central: central))
    }

    /// Notes that the pairing of a central has failed, or that its link has ended.
    func failed(_ central: DeviceAddress) {
        let console: Console? = state.withLock { state in
            guard case .taken(central, let isOver) = state.phase else { return nil }
            state.phase = isOver ? .closed : .open
            return isOver ? state.console : nil
        }
        _ = console?.show(PairingWindowEvent(isOpen: false))
    }
}

/// A server's window for a bonded device that pairs again was opened or closed.
struct PairingWindowEvent: Event {
    var isOpen: Bool
    /// The device that has paired; nil if the time has passed.
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
            : central.map { "\($0.text) has paired again" } ?? "no bonded device has paired again"
        return [
            Style.dim("\(time)", when: colored) + "  \(Style.bold("pairing window", when: colored))  \(what)"
        ]
    }
}
