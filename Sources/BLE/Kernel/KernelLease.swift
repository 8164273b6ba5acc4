import BLECore
import DequeModule
import Glibc
import HCISocket
import Logging

/// This process's use of a kernel adapter, and what is to be switched off after it.
///
/// Processes that use an adapter know of each other by names that they claim. What the first of them had to switch on,
/// the last one switches off: a process that comes meanwhile takes over what is owed.
final class KernelLease: Sendable {
    /// What is switched on for the use of an adapter.
    struct Switches: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let power = Switches(rawValue: 1)
        static let lowEnergy = Switches(rawValue: 2)
    }

    private struct State {
        /// What the last process that uses the adapter has to switch off.
        var owed: Switches
        /// The devices that this process has had links to of late. The kernel keeps a link for a while.
        var peers: Deque<DeviceAddress> = []
        /// Shows the others that there is this one, and what it owes.
        var claim: (any Sendable)?
        var isOver = false
    }

    let index: UInt16
    private let management: KernelManagement
    private let state: Lock<State>

    private init(_ index: UInt16, _ management: KernelManagement, _ state: State) {
        self.index = index
        self.management = management
        self.state = Lock(state)
    }

    /// Switches LE and power on where they are off.
    static func take(
        _ index: UInt16, by management: KernelManagement
    ) async throws(BLEError) -> KernelLease {
        let turn = await turn(index, management)
        defer { withExtendedLifetime(turn) {} }
        let information = try await management.information(of: index)
        guard information.supported.contains(.lowEnergy) else {
            throw .adapter(.unsupported(.lowEnergy))
        }
        let lease = KernelLease(
            index, management, State(owed: others(index, management).reduce(into: []) { $0.formUnion($1) }))
        do throws(BLEError) {
            if !information.current.contains(.lowEnergy) {
                try await lease.switchOn(
                    .lowEnergy, by: .setLowEnergy(true), .switchLowEnergy(index, on: true))
            }
            if !information.current.contains(.powered) {
                try await lease.switchOn(.power, by: .setPowered(true), .switchPower(index, on: true))
            }
        } catch {
            await lease.settle()
            throw error
        }
        lease.show()
        return lease
    }

    /// Ends the use and restores nothing: the adapter is gone, or another program has switched it off. If it
    /// is on again, the program that did so needs it on.
    func forget() { state.withLock { ($0.owed, $0.claim) = ([], nil) } }

    /// This process has a link to `peer`, which counts as no other program's.
    func note(_ peer: DeviceAddress) {
        state.withLock { state in
            if state.peers.count == Self.peerLimit { state.peers.removeFirst() }
            state.peers.append(peer)
        }
    }

    /// How many peers are remembered. A link that is left stays for two seconds.
    private static let peerLimit = 64

    private func othersLinks() async throws(BLEError) -> Int {
        let (count, peers) = try await management.connections(of: index)
        let own = Set(state.withLock { $0.peers })
        return count - peers.count { own.contains($0) }
    }

    /// Ends the use. What is owed is switched off unless others use the adapter. Does nothing the second time.
    func giveBack() async {
        let wasOver = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver
        }
        guard !wasOver else { return }
        let turn = await Self.turn(index, management)
        state.withLock { $0.claim = nil }
        await settle()
        withExtendedLifetime(turn) {}
    }

    /// Switches off what is owed, if nothing else uses the adapter: no other process, and no link of other programs.
    private func settle() async {
        let owed = state.withLock { $0.owed }
        guard !owed.isEmpty, Self.others(index, management).isEmpty else { return }
        if let links = try? await othersLinks(), links > 0 {
            Logger(label: "ble.hci\(index)").info("hci\(index) stays on: other programs have links on it")
            return
        }
        if owed.contains(.power) {
            try? await request(.setPowered(false), .switchPower(index, on: false))
        }
        if owed.contains(.lowEnergy) {
            try? await request(.setLowEnergy(false), .switchLowEnergy(index, on: false))
        }
    }

    /// Owes a switch, also when the kernel has not answered in time: it may carry the command out later.
    private func switchOn(
        _ new: Switches, by command: ManagementCommand, _ operation: BLEError.KernelOperation
    ) async throws(BLEError) {
        state.withLock { $0.owed.formUnion(new) }
        do throws(BLEError) {
            try await request(command, operation)
        } catch {
            if case .timedOut = error { throw error }
            state.withLock { $0.owed.subtract(new) }
            throw error
        }
    }

    private func request(_ command: ManagementCommand, _ operation: BLEError.KernelOperation)
        async throws(BLEError)
    {
        _ = try await management.request(command, index: index, operation: operation)
    }
}

// MARK: - Others

extension KernelLease {
    /// How long another process may take to switch the adapter.
    private static let timeLimit = Duration.seconds(10)

    private static func prefix(_ index: UInt16) -> String { "bletool/hci\(index)/" }

    /// Of several processes that begin or end their use, one at a time does so. Who waits too long, or cannot
    /// wait, does it all the same: that is no reason not to use the adapter.
    private static func turn(_ index: UInt16, _ management: KernelManagement) async -> (any Sendable)? {
        do throws(PortError) {
            return try await management.kernel.claim(
                prefix(index) + "turn", within: timeLimit, on: management.loop)
        } catch {
            Logger(label: "ble.hci\(index)").info("\(error)")
            return nil
        }
    }

    /// What the other users of the adapter owe.
    private static func others(_ index: UInt16, _ management: KernelManagement) -> [Switches] {
        management.kernel.claims(beginningWith: prefix(index) + "use/").map { name in
            Switches(rawValue: name.split(separator: "/").last.flatMap { UInt8($0) } ?? 0)
        }
    }

    private func show() {
        let owed = state.withLock { $0.owed }
        // Several adapters of a process may be the same one.
        for number in 0..<100 {
            let name = Self.prefix(index) + "use/\(getpid())-\(number)/\(owed.rawValue)"
            do throws(PortError) {
                guard let claim = try management.kernel.claim(name) else { continue }
                return state.withLock { $0.claim = claim }
            } catch {
                return Logger(label: "ble.hci\(index)").info("\(error)")
            }
        }
    }
}
