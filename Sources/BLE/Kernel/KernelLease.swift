import BLECore
import DequeModule
import Glibc
import HCISocket
import Logging

/// This process's use of a kernel adapter, and what is to be switched off after it.
///
/// Processes that use an adapter find each other by names that they claim. The last of them switches off what
/// the first one had to switch on: a process that starts to use the adapter in between takes over what
/// the last one must switch off.
final class KernelLease: Sendable {
    /// The settings that are switched on for the use of an adapter.
    struct Switches: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let power = Switches(rawValue: 1)
        static let lowEnergy = Switches(rawValue: 2)
    }

    private struct State {
        /// The settings that the last process that uses the adapter has to switch off.
        var toSwitchOff: Switches
        /// The devices to which this process had links recently. The kernel keeps a link for a while.
        var peers: Deque<DeviceAddress> = []
        /// The claimed name that shows other processes that this one uses the adapter, and what it must switch off.
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
            index, management,
            State(toSwitchOff: others(index, management).reduce(into: []) { $0.formUnion($1) }))
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
    func forget() { state.withLock { ($0.toSwitchOff, $0.claim) = ([], nil) } }

    /// Notes that this process has a link to `peer`, so that the link does not count as another program's.
    func note(_ peer: DeviceAddress) {
        state.withLock { state in
            if state.peers.count == Self.peerLimit { state.peers.removeFirst() }
            state.peers.append(peer)
        }
    }

    /// The maximum number of remembered peers. A link that is no longer used stays up for two seconds.
    private static let peerLimit = 64

    private func othersLinks() async throws(BLEError) -> Int {
        let (count, peers) = try await management.connections(of: index)
        let own = Set(state.withLock { $0.peers })
        return count - peers.count { own.contains($0) }
    }

    /// Ends the use of the adapter. Switches off what was switched on for it, unless others use the adapter. Further calls
    /// do nothing.
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

    /// Switches off what was switched on if nothing else uses the adapter: no other lease, of this process or of
    /// another one, and no link of other programs.
    private func settle() async {
        let toSwitchOff = state.withLock { $0.toSwitchOff }
        guard !toSwitchOff.isEmpty, Self.others(index, management).isEmpty else { return }
        if let links = try? await othersLinks(), links > 0 {
            Logger(label: "ble.hci\(index)").info("hci\(index) stays on: other programs have links on it")
            return
        }
        if toSwitchOff.contains(.power) {
            try? await request(.setPowered(false), .switchPower(index, on: false))
        }
        if toSwitchOff.contains(.lowEnergy) {
            try? await request(.setLowEnergy(false), .switchLowEnergy(index, on: false))
        }
    }

    /// Switches a setting on, and notes that it must be switched off, also when the kernel has not answered in time,
    /// because it may carry the command out later.
    private func switchOn(
        _ new: Switches, by command: ManagementCommand, _ operation: BLEError.KernelOperation
    ) async throws(BLEError) {
        state.withLock { $0.toSwitchOff.formUnion(new) }
        do throws(BLEError) {
            try await request(command, operation)
        } catch {
            if case .timedOut = error { throw error }
            state.withLock { $0.toSwitchOff.subtract(new) }
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
    /// The maximum time to wait for another process that switches the adapter.
    private static let timeLimit = Duration.seconds(10)

    private static func prefix(_ index: UInt16) -> String { "bletool/hci\(index)/" }

    /// Serializes processes that start or stop using the adapter. A process that cannot get its turn in time,
    /// or cannot wait, proceeds without it, because a missing turn is no reason to refuse the adapter.
    private static func turn(_ index: UInt16, _ management: KernelManagement) async -> (any Sendable)? {
        do throws(PortError) {
            return try await management.kernel.claim(
                prefix(index) + "turn", within: timeLimit, on: management.loop)
        } catch {
            Logger(label: "ble.hci\(index)").info("\(error)")
            return nil
        }
    }

    /// Returns what each process that uses the adapter must switch off, once for each of its leases.
    private static func others(_ index: UInt16, _ management: KernelManagement) -> [Switches] {
        management.kernel.claims(beginningWith: prefix(index) + "use/").map { name in
            Switches(rawValue: name.split(separator: "/").last.flatMap { UInt8($0) } ?? 0)
        }
    }

    private func show() {
        let toSwitchOff = state.withLock { $0.toSwitchOff }
        // A process can have several `Adapter`s that use the same adapter.
        for number in 0..<100 {
            let name = Self.prefix(index) + "use/\(getpid())-\(number)/\(toSwitchOff.rawValue)"
            do throws(PortError) {
                guard let claim = try management.kernel.claim(name) else { continue }
                return state.withLock { $0.claim = claim }
            } catch {
                return Logger(label: "ble.hci\(index)").info("\(error)")
            }
        }
        Logger(label: "ble.hci\(index)").warning(
            "this process uses the adapter 100 times: other processes may switch it off meanwhile")
    }
}
