import ATT
import BLECore
import GATTServer

/// An advertisement that was active when the process ended.
public struct RestoredAdvertising: Hashable, Sendable {
    /// The data and parameters of the advertisement.
    public var request: AdvertisingRequest
    /// The number of centrals that could be connected before advertising paused.
    public var maximumLinks: Int
}

/// The state that a peripheral manager has restored from the last process with its name.
public struct RestoredPeripheralState: Hashable, Sendable {
    /// The services that were published, with their attributes and handles.
    public let services: [ServiceRecord]
    /// The stored values that centrals had written, or `update` had set.
    public let values: [AttributeHandle: [UInt8]]
    /// The advertisements that were on air.
    public let advertising: [RestoredAdvertising]
    /// The errors in the parts of the file that could not be read. The file is kept beside the new one, under
    /// another name.
    public let problems: [StateError]

    init(_ kept: KeptState<ServingState>) {
        let state = kept.value
        services = state.services
        values = state.values
        advertising = state.advertising.sorted { $0.key < $1.key }.map(\.value)
        problems = kept.problems
    }

    /// Creates the empty state of a manager that restores nothing.
    init() { (services, values, advertising, problems) = ([], [:], [], []) }
}

extension PeripheralManager {
    /// Creates a manager for the peripheral role of `adapter` that restores what the last process had under the
    /// same name, whether that process ended by a crash, by SIGKILL, or with the machine.
    ///
    /// ```swift
    /// let manager = try await PeripheralManager(adapter, restoring: "sensor")
    /// try await manager.publish([
    ///     GATTService(0xfff0) {
    ///         // What was written last, else 60.
    ///         GATTCharacteristic(0xfff1, properties: [.read, .write], value: .stored([60]))
    ///         GATTCharacteristic(0xfff2, properties: .read, onRead: { _ in .value(measure()) })
    ///     }
    /// ])
    /// if manager.restored.advertising.isEmpty { _ = try await manager.advertise(request) }
    /// ```
    ///
    /// **What is kept:** the handles of the services; stored values that centrals have written or `update`
    /// has set; advertisements, from `advertise` until they are stopped or end by themselves. Each of these
    /// is on the disk before its caller returns, and before the central that has written a value receives the
    /// response. If the disk fails, the caller receives `BLEError.restoration`, and a central receives
    /// Unlikely Error. The subscriptions of bonded centrals are kept with the bonds, and are also on the disk
    /// before the central receives the response.
    ///
    /// **What is restored:** handlers are code, which cannot be kept on a disk, so the application publishes
    /// its services again, by `publish` or `add`, as it does at each start. A service with the same structure
    /// gets the same handles again, and its values are those that were kept, so that what bonded centrals
    /// remember stays true. A service that has changed gets handles that no other service had, and centrals
    /// receive Service Changed. Advertisements are started again. Connectable ones wait for the services,
    /// because a bonded central that finds only a part of them loses its subscriptions. They wait until all
    /// services that were kept are published again, or others of their types; if some are missing, until 5 s
    /// after the last `publish` or `add`. Other advertisements start at once. `advertise` with the same
    /// request takes up the restored advertisement, without waiting. An advertisement that is not taken up
    /// continues until `dismissRestored`.
    ///
    /// **What is not kept:** values that handlers return; values that were not changed, which the program
    /// defines; notifications that were not sent yet; and the elapsed time of an advertisement, whose
    /// duration starts again.
    ///
    /// A program that is about to end, for example at a reboot, calls `keepForNextStart()` before it stops
    /// its advertisements. Otherwise they are removed from the disk. Closing the adapter also keeps them.
    ///
    /// - Parameters:
    ///   - adapter: the radio.
    ///   - name: 1 to 64 ASCII letters, digits, dots, dashes and underscores, not beginning with a dot. Only
    ///     one manager at a time can have it, and an adapter has one such manager.
    ///   - folder: the state folder; nil is the one of the adapter's bonds.
    ///   - keepsUpdates: false keeps only what centrals write; for values that the program measures, and sets
    ///     too often for each of them to be written to a disk.
    public init(
        _ adapter: Adapter, restoring name: String, in folder: String? = nil, keepsUpdates: Bool = true
    ) async throws(BLEError) {
        try await self.init(adapter, restoring: name, in: folder, keepsUpdates: keepsUpdates, Disk())
    }

    init(
        _ adapter: Adapter, restoring name: String, in folder: String?, keepsUpdates: Bool = true,
        _ disk: Disk
    ) async throws(BLEError) {
        self.adapter = adapter
        let kept: KeptState<ServingState> = try await RestorationFolder.open(
            name, "peripheral", in: folder, of: adapter, disk)
        restoration = try await PeripheralRestoration(adapter, kept, keepsUpdates: keepsUpdates)
    }

    /// The state that the manager has restored; empty for a manager that was created without a name.
    public var restored: RestoredPeripheralState { restoration?.restored ?? RestoredPeripheralState() }

    /// Stops the restored advertisements that no caller has taken up. Returns when the change is on the disk.
    public func dismissRestored() async throws(BLEError) { try await restoration?.dismiss() }

    /// Keeps the advertisements on the disk: those that are stopped from now on are still restored at the next
    /// start. A program calls this when it is about to end.
    public func keepForNextStart() { restoration?.keepForNextStart() }
}
