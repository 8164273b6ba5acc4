/// The state of a manager, named as in Core Bluetooth (`CBManagerState`).
public enum ManagerState: String, Hashable, Sendable, CaseIterable {
    /// The state is not known: the controller is being set up for the first time, or it was lost for a reason
    /// that does not show its state.
    case unknown
    /// The controller has failed and is being recovered. Scans, advertisements and connection requests start
    /// again after the recovery.
    case resetting
    /// There is no radio, or it does not support Bluetooth Low Energy.
    case unsupported
    /// This process is not allowed to use the adapter.
    case unauthorized
    /// The adapter is off, blocked by rfkill, or closed.
    case poweredOff
    /// The controller is set up and can be used.
    case poweredOn
}

extension BLEError {
    /// The state of a manager whose adapter could not be opened, or has ended, because of this error.
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
    /// The present state of the adapter's managers.
    public nonisolated var state: ManagerState { observedState.value }

    /// Returns a stream of the managers' state: the present one, then each change. When the consumer is slow, the
    /// oldest of 16 waiting states are dropped and counted. When the adapter ends, the stream yields the final
    /// state and throws the error that ended it.
    public nonisolated func states() -> BoundedStream<ManagerState> { observedState.watch(.newest(16)) }

    /// Waits until the adapter is powered on. Returns at once, or when a controller that has failed has been
    /// recovered. Throws the error that ended the adapter.
    public nonisolated func untilPoweredOn() async throws(BLEError) {
        for try await state in states() where state == .poweredOn { return }
        throw .cancelled
    }
}

extension CentralManager {
    /// The state of the adapter, as of this call.
    public var state: ManagerState { adapter.state }
    /// Returns a stream of the manager's state, as `Adapter.states()` does.
    public func states() -> BoundedStream<ManagerState> {
        let states = adapter.states()
        suspension.adopt(states.buffer)
        return states
    }
}

extension PeripheralManager {
    /// The state of the adapter, as of this call.
    public var state: ManagerState { adapter.state }
    /// Returns a stream of the manager's state, as `Adapter.states()` does.
    public func states() -> BoundedStream<ManagerState> { adapter.states() }
}
