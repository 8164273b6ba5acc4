/// What a manager can do, in Core Bluetooth's words (`CBManagerState`).
public enum ManagerState: String, Hashable, Sendable, CaseIterable {
    /// Not known: the controller is being set up for the first time, or it was lost for a reason that leaves that open.
    case unknown
    /// The controller has failed and is being brought back. What is wanted of it begins anew then.
    case resetting
    /// There is no radio, or it cannot do Bluetooth Low Energy.
    case unsupported
    /// This process may not use it.
    case unauthorized
    /// The adapter is off, blocked by rfkill, or closed.
    case poweredOff
    /// The controller is set up and can be used.
    case poweredOn
}

extension BLEError {
    /// What a manager is whose adapter could not be opened, or has ended, for this reason.
    ///
    /// ```swift
    /// do { adapter = try await Adapter.open(.kernel(.index(0))) } catch { show(error.managerState) }
    /// ```
    public var managerState: ManagerState {
        switch self {
        case .permission, .fileAccess, .unknownIdentity: .unauthorized
        case .adapter(let problem): problem.managerState
        case .managementRefused, .managementMalformed: .unsupported
        default: .unknown
        }
    }
}

extension AdapterProblem {
    fileprivate var managerState: ManagerState {
        switch self {
        case .blocked, .poweredOff, .cannotPower, .closed: .poweredOff
        case .missing, .noAdapter, .unreachable, .notSerial, .noBluetooth, .unsupported, .removed:
            .unsupported
        case .isolated, .inUse, .pairedBy: .unauthorized
        case .notSetUp, .hungUp, .failed: .unknown
        }
    }
}

extension Adapter {
    /// What its managers can do now.
    public nonisolated var state: ManagerState { observedState.value }

    /// What its managers can do: now, and whenever that changes. Of a slow consumer's waiting states the oldest of 16
    /// are dropped and counted. When the adapter ends, the stream yields what it is then, and throws why.
    public nonisolated func states() -> BoundedStream<ManagerState> { observedState.watch(.newest(16)) }

    /// Returns when it is powered on: at once, or when a controller that has failed is back. Throws why it has ended.
    public nonisolated func untilPoweredOn() async throws(BLEError) {
        for try await state in states() where state == .poweredOn { return }
        throw .cancelled
    }
}

extension CentralManager {
    /// The state of the adapter, as of this call.
    public var state: ManagerState { adapter.state }
    /// What it can do: now, and whenever that changes, as `Adapter.states()` has it.
    public func states() -> BoundedStream<ManagerState> {
        let states = adapter.states()
        suspension.adopt(states.buffer)
        return states
    }
}

extension PeripheralManager {
    /// The state of the adapter, as of this call.
    public var state: ManagerState { adapter.state }
    /// What it can do: now, and whenever that changes, as `Adapter.states()` has it.
    public func states() -> BoundedStream<ManagerState> { adapter.states() }
}
