import BLECore
import GATTServer
import HCISocket

/// A change of a maintained connection.
public enum MaintenanceEvent: Hashable, Sendable {
    /// The device to connect to was found by a scan, for the first time or under another identifier than before. Only
    /// with `CentralManager.maintain(matching:options:backoff:endsWhenBondLost:report:)`.
    case found(Peripheral.Identifier)
    /// A link was made, and is as secure as the options require. `session` is the number of the link, from 1.
    case connected(session: Int, LinkSecurity)
    /// The link has ended. The next attempt to connect begins after `pause`.
    case disconnected(session: Int, DisconnectReason, pause: Duration)
    /// An attempt to connect has failed. The next one begins after `pause`.
    case failed(BLEError, pause: Duration)
}

extension MaintenanceEvent: CustomStringConvertible {
    /// The event as one line of text: "session 1 is connected, security encrypted".
    public var description: String {
        switch self {
        case .found(let id): "found \(id.address)"
        case .connected(let session, let security):
            "session \(session) is connected, security \(security.level)"
        case .disconnected(let session, let reason, let pause):
            "session \(session) has ended: \(reason); next attempt in \(pause.phrase)"
        case .failed(let error, let pause): "connecting failed: \(error); next attempt in \(pause.phrase)"
        }
    }
}

/// The successive links to one device: for devices that sleep, or that drop their links after seconds.
///
/// The sequence connects only while its consumer waits for the next link. It waits until the previous link
/// has ended, if it still exists, and until the device is connected again. A loop body that reaches its end
/// early therefore keeps the link; leaving the loop, or cancelling it, ends the link. Errors that cannot pass
/// by themselves, such as a removed adapter, end the sequence.
///
/// A peer that no longer has the key of its bond is reported as ``MaintenanceEvent/failed(_:pause:)`` with
/// ``BLEError/bondLost(_:)``, and the bond is kept: it can be another device that uses the peer's address, and
/// the device itself may be connected later. The link is not used without encryption.
public struct MaintainedConnection: AsyncSequence, Sendable {
    /// The error that ends the sequence.
    public typealias Failure = BLEError

    /// What the links are made to.
    enum Target: Sendable {
        case device(Peripheral.Identifier)
        /// The first connectable device that a scan finds, which is repeated for each link.
        case found(by: ScanOptions)
    }

    let central: CentralManager
    let target: Target
    let options: ConnectionOptions
    let backoff: Backoff
    let endsWhenBondLost: Bool
    let report: @Sendable (MaintenanceEvent) -> Void

    /// Creates an iterator. A second iterator has links of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Holds the link for the iterator, and ends the link when the iterator is released.
    private final class Owner: Sendable {
        private let session = Lock<Peripheral?>(nil)
        private let request = Lock<LinkRequest?>(nil)

        func take() -> Peripheral? { session.withLock { $0.take() } }
        func keep(_ peripheral: Peripheral) { session.withLock { $0 = peripheral } }

        /// Returns the request that the next process can restore; nil without restoration.
        nonisolated(nonsending) func request(
            of connection: MaintainedConnection
        ) async throws(BLEError) -> LinkRequest? {
            guard let restoration = connection.central.restoration, case .device(let id) = connection.target
            else { return nil }
            if let request = request.withLock({ $0 }) { return request }
            let new = try await restoration.request(
                for: id, connection.options, isMaintained: true)
            request.withLock { $0 = new }
            return new
        }

        deinit {
            request.withLock { $0 }?.end()
            guard let left = take() else { return }
            Task(executorPreference: left.adapter.loop) { await left.disconnect() }
        }
    }

    /// Iterates over the links: each element is a new link to the same device.
    public struct Iterator: AsyncIteratorProtocol {
        private let connection: MaintainedConnection
        private let owner = Owner()
        private var sessions = 0
        private var failures = 0
        /// The time of the last attempt's end, and the pause before the next one.
        private var since = Instant.zero
        private var pause = Duration.zero
        /// The device that the last scan has found, and the time limit of connecting to it.
        private var found: (id: Peripheral.Identifier, limit: Duration)?

        /// The time limit of connecting to a device that a scan has found. Its address may have changed since. The
        /// limit doubles while the device is found again under the same address, because some advertise rarely.
        private static let foundLimit = Duration.seconds(5)
        private static let longestFoundLimit = Duration.seconds(40)

        fileprivate init(_ connection: MaintainedConnection) { self.connection = connection }

        private var loop: EventLoop { connection.central.adapter.loop }

        /// Waits for the next link to the device.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(BLEError) -> Peripheral? {
            try await advance()
        }

        /// Waits for the next link to the device.
        public nonisolated(nonsending) mutating func next() async throws(BLEError) -> Peripheral? {
            try await advance()
        }

        private nonisolated(nonsending) mutating func advance() async throws(BLEError) -> Peripheral {
            if let before = owner.take() { try await outlast(before) }
            while true {
                try await rest()
                do throws(BLEError) {
                    let new = try await connect()
                    owner.keep(new)
                    sessions += 1
                    since = loop.now
                    // A link that has ended already is reported as open.
                    let security = (try? await new.security) ?? .none
                    connection.report(.connected(session: sessions, security))
                    return new
                } catch {
                    let isBondLost = if case .bondLost = error { true } else { false }
                    guard error.mayPass || isBondLost && !connection.endsWhenBondLost else { throw error }
                    // A scan that cannot begin is an error.
                    if case .found = connection.target, found == nil { throw error }
                    since = loop.now
                    if case .timedOut(.connecting, _) = error {
                        // The device has another address now, and the next scan finds it.
                        pause = Backoff.shortest
                    } else {
                        failures += 1
                        pause = Swift.max(connection.backoff.pause(after: failures), Backoff.shortest)
                    }
                    connection.report(.failed(error, pause: pause))
                }
            }
        }

        private nonisolated(nonsending) mutating func connect() async throws(BLEError) -> Peripheral {
            let options = connection.options
            let address: DeviceAddress
            switch connection.target {
            case .device(let id): address = id.address
            case .found(let scan):
                let (id, limit) = try await find(scan)
                return try await connection.central.connect(
                    to: id.address, timeout: nil, establishingWithin: limit, options: options)
            }
            guard let request = try await owner.request(of: connection) else {
                return try await connection.central.connect(to: address, timeout: nil, options: options)
            }
            return try await request.connect(to: address, timeout: nil, options: options)
        }

        /// Looks for the device. Returns its identifier, and the time limit of connecting to it, which a bonded device
        /// does not need: it can be found by its identity, whatever address it has.
        private nonisolated(nonsending) mutating func find(
            _ scan: ScanOptions
        ) async throws(BLEError) -> (Peripheral.Identifier, Duration?) {
            let central = connection.central
            if let known = found?.id, await central.adapter.isBonded(with: known.address) {
                return (await central.identifier(of: known.address), nil)
            }
            let seen = try await central.first(scan, within: nil) { $0.isConnectable && $0.id != nil }
            guard let id = seen.id else { throw .notFound(.address) }
            let limit: Duration
            if let found, found.id == id {
                limit = Swift.min(found.limit * 2, Self.longestFoundLimit)
            } else {
                limit = Self.foundLimit
                connection.report(.found(id))
            }
            found = (id, limit)
            return (id, await central.adapter.isBonded(with: id.address) ? nil : limit)
        }

        /// Waits for the end of a link, and counts it as a success or a failure.
        private nonisolated(nonsending) mutating func outlast(_ session: Peripheral) async throws(BLEError) {
            let reason: DisconnectReason
            do throws(BLEError) {
                reason = try await session.disconnection()
            } catch {
                await session.disconnect()
                throw error
            }
            let lasted = since.duration(until: loop.now)
            let isSuccess =
                if lasted >= connection.backoff.steadyAfter { true } else { await session.hasServed }
            failures = isSuccess ? 0 : failures + 1
            // Doubled if the device is found again under this address.
            if let found { self.found = (found.id, Self.foundLimit / 2) }
            pause = Swift.max(connection.backoff.pause(after: failures), Backoff.shortest - lasted)
            connection.report(.disconnected(session: sessions, reason, pause: pause))
        }

        private nonisolated(nonsending) func rest() async throws(BLEError) {
            if pause > .zero, await !loop.sleep(for: pause) { throw .cancelled }
        }
    }
}

extension CentralManager {
    /// Connects to a device again and again, and returns the successive links as a sequence. The pauses grow
    /// while attempts fail or links end early. `report` is called with each event, on the consumer's task. With
    /// `endsWhenBondLost`, the sequence ends with `BLEError.bondLost` when the device does not have the key of
    /// its bond; by default, further attempts follow.
    ///
    /// ```swift
    /// for try await device in central.maintain(id) {
    ///     do { try await follow(device) } catch BLEError.disconnected { continue }
    /// }
    /// ```
    public func maintain(
        _ id: Peripheral.Identifier, options: ConnectionOptions = ConnectionOptions(),
        backoff: Backoff = Backoff(), endsWhenBondLost: Bool = false,
        report: @escaping @Sendable (MaintenanceEvent) -> Void = { _ in }
    ) -> MaintainedConnection {
        MaintainedConnection(
            central: self, target: .device(id), options: options, backoff: backoff,
            endsWhenBondLost: endsWhenBondLost, report: report)
    }

    /// Connects again and again to the device that a scan finds: for one that is known by its name or services, and
    /// can have another address after each start (Core Specification 5.4, Vol 6, Part B, 1.3.2.1).
    ///
    /// Before each link, the device is looked for anew: the first connectable one that matches `scan` is taken. If it
    /// does not answer within 5 s, which doubles up to 40 s while its address stays the same, it is looked for again.
    /// A bonded device is followed by its identity address. The next process does not restore these links. Otherwise
    /// as `maintain(_:options:backoff:endsWhenBondLost:report:)`.
    ///
    /// ```swift
    /// var scan = ScanOptions()
    /// scan.name = "Thermometer *"
    /// for try await device in central.maintain(matching: scan) {
    ///     do { try await follow(device) } catch BLEError.disconnected { continue }
    /// }
    /// ```
    public func maintain(
        matching scan: ScanOptions, options: ConnectionOptions = ConnectionOptions(),
        backoff: Backoff = Backoff(), endsWhenBondLost: Bool = false,
        report: @escaping @Sendable (MaintenanceEvent) -> Void = { _ in }
    ) -> MaintainedConnection {
        MaintainedConnection(
            central: self, target: .found(by: scan), options: options, backoff: backoff,
            endsWhenBondLost: endsWhenBondLost, report: report)
    }
}

extension BLEError {
    /// Whether the same operation may succeed later without intervention.
    fileprivate var mayPass: Bool {
        switch self {
        case .connectFailed, .disconnected, .timedOut, .busy, .hci, .controllerSilent, .controllerMisbehaved,
            .peerMisbehaved, .att, .encryption, .databaseChanged, .port, .cannotPair(.repeatedAttempts):
            true
        default: false
        }
    }
}
