import ATT
import BLECore
import GATTServer

/// An advertisement that there was when the process ended.
public struct RestoredAdvertising: Hashable, Sendable {
    /// The data and parameters of the advertisement.
    public var request: AdvertisingRequest
    /// The number of centrals that could be connected before advertising paused.
    public var maximumLinks: Int
}

/// The state that a peripheral manager has found of the last process with its name.
public struct RestoredPeripheralState: Hashable, Sendable {
    /// The services that were published: what they were, and with which handles.
    public let services: [ServiceRecord]
    /// The stored values that centrals had written, or `update` had set.
    public let values: [AttributeHandle: [UInt8]]
    /// The advertisements that were on air.
    public let advertising: [RestoredAdvertising]
    /// What of the file could not be read. The file is kept beside the new one, under another name.
    public let problems: [StateError]

    init(_ kept: KeptState<ServingState>) {
        let state = kept.value
        services = state.services
        values = state.values
        advertising = state.advertising.sorted { $0.key < $1.key }.map(\.value)
        problems = kept.problems
    }

    /// Of a manager that brings nothing back.
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
    /// **What is kept:** which handles the services have; stored values that centrals have written or `update` has set;
    /// advertisements, from `advertise` until they are stopped or end by themselves. Each is on the disk before its
    /// caller returns, and before the central that has written has its response. Where the disk fails, the caller gets
    /// `BLEError.restoration`, a central Unlikely Error. What bonded centrals have subscribed to is kept with the
    /// bonds, before they have their response as well.
    ///
    /// **What comes back:** handlers are code, and no disk can have them, so the application publishes its services
    /// again, by `publish` or `add`, as it does at each start. A service of the same make has the handles again that it
    /// had, and its values are those that were kept, so that what bonded centrals remember stays true; one that has
    /// changed has handles that no other had, and centrals receive Service Changed. Advertisements are on the air
    /// again. Those that take links wait for the services, so that no bonded central meets a part of them, and loses
    /// what it has subscribed to: until all that were kept are published again, or others of their types; where some
    /// are missing, until 5 s after the last `publish` or `add`. Others are on the air at once. `advertise` with the
    /// same request takes up the one that has come back, without waiting. What is not taken up goes on until
    /// `dismissRestored`.
    ///
    /// **What is not kept:** values that handlers give, values that were not changed, which are as the program says;
    /// notifications that were on their way; how much of its time an advertisement had, which is counted anew.
    ///
    /// A program that is about to end, as at each reboot, calls `keepForNextStart()` before it stops its
    /// advertisements, else these are not wanted any more. Closing the adapter does the same.
    ///
    /// - Parameters:
    ///   - adapter: the radio.
    ///   - name: 1 to 64 letters of ASCII, digits, dots, dashes and underscores, no dot first. One manager
    ///     at a time has it, and an adapter has one such manager.
    ///   - folder: the state folder; nil is the one of the adapter's bonds.
    ///   - keepsUpdates: false keeps only what centrals write: for values that the program measures, and sets so often
    ///     that a disk should not have each of them.
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

    /// The state that the manager has found; empty for a manager that was created without a name.
    public var restored: RestoredPeripheralState { restoration?.restored ?? RestoredPeripheralState() }

    /// Stops the restored advertisements that no caller has taken up. Returns when the change is on the disk.
    public func dismissRestored() async throws(BLEError) { try await restoration?.dismiss() }

    /// Keeps the advertisements on the disk: those that are stopped from now on are still restored at the next
    /// start. A program calls this when it is about to end.
    public func keepForNextStart() { restoration?.keepForNextStart() }
}
