/// What a central manager has brought back from the last process that had its name.
public struct RestoredCentralState: Hashable, Sendable {
    /// The devices to which there was a link, or to which a caller was connecting. The manager connects to them
    /// again.
    public let peripherals: [RestoredPeripheral]
    /// The scans that were under way. The manager has begun them again.
    public let scans: [ScanOptions]
    /// The devices to which there has ever been a link, the latest first: at most 1,024, and only those that keep
    /// their address.
    public let known: [Peripheral.Identifier]
    /// What of the file could not be read. The file is kept beside the new one, under another name.
    public let problems: [StateError]

    init(_ kept: KeptState<CentralState>) {
        let state = kept.value
        peripherals = state.peripherals
        scans = state.scans.sorted { $0.key < $1.key }.map(\.value)
        known = state.latest
        problems = kept.problems
    }

    /// Of a manager that brings nothing back.
    init() { (peripherals, scans, known, problems) = ([], [], [], []) }
}

extension CentralManager {
    /// Creates a manager for the central role of `adapter` that restores what the last process had under the same
    /// name, whether that process ended by a crash, by SIGKILL, or with the machine.
    ///
    /// ```swift
    /// let central = try await CentralManager(adapter, restoring: "gateway")
    /// for device in central.restored.peripherals {
    ///     tasks.addTask {
    ///         // `follow` reads the stream of each subscription in a task of its own.
    ///         for try await session in central.maintain(device.id, options: device.options) {
    ///             do {
    ///                 try await follow(device.subscriptions, session)
    ///             } catch BLEError.disconnected {
    ///                 continue
    ///             }
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// **What is kept:** of each `connect` the device and its options, from its call until it fails, is cancelled, its
    /// link ends or `disconnect` of the peripheral is called; of each `maintain` the same, until its loop is left; the
    /// streams of `values(of:)` on these links, until they are left; the scans of `scan(_:)`, until they are left; the
    /// devices that there was a link to. Each is on the disk before its caller has what it asked for; where the disk
    /// fails, the caller gets `BLEError.restoration`. Bonds, and the databases of bonded devices, are kept in the same
    /// folder in any case.
    ///
    /// **What comes back:** a link does not outlive its process, so the manager connects to the devices anew, waits for
    /// those that are not there, subscribes, and scans. What has come back waits for its owner: the first `connect` or
    /// `maintain` with the device, `values(of:)` with the same characteristic and options, and `scan(_:)` with the same
    /// options take up what is there, with the values that have come meanwhile, in place of beginning anew. What is not
    /// taken up goes on until `dismissRestored`: also a subscription that the owner of its link has no use for.
    ///
    /// **What is not kept:** `first(_:within:where:)`, discovered databases of devices without a bond, RSSI,
    /// values that waited in streams, writes that were not answered. A device that hides behind a private
    /// address and has no bond is looked for under the address that it had.
    ///
    /// A program that is about to end, as at each reboot, calls `keepForNextStart()` before it leaves its loops and
    /// cancels its tasks, else these give up what was kept. `withAdapter` does that where a signal ends the program,
    /// and closing the adapter does the same.
    ///
    /// - Parameters:
    ///   - adapter: the radio.
    ///   - name: 1 to 64 letters of ASCII, digits, dots, dashes and underscores, no dot first. One manager
    ///     at a time has it.
    ///   - folder: the state folder; nil is the one of the adapter's bonds.
    public init(
        _ adapter: Adapter, restoring name: String, in folder: String? = nil
    ) async throws(BLEError) {
        try await self.init(adapter, restoring: name, in: folder, Disk())
    }

    init(
        _ adapter: Adapter, restoring name: String, in folder: String?, _ disk: Disk
    ) async throws(BLEError) {
        self.adapter = adapter
        restoration = try await CentralRestoration(
            adapter, RestorationFolder.open(name, "central", in: folder, of: adapter, disk))
    }

    /// The state that the manager has restored; empty for a manager that was created without a name.
    public var restored: RestoredCentralState { restoration?.restored ?? RestoredCentralState() }

    /// Discards the restored state that no caller has taken up: links, connection requests, scans, and
    /// subscriptions on links that were taken up. Returns when the change is on the disk.
    public func dismissRestored() async throws(BLEError) {
        guard let restoration else { return }
        restoration.dismiss(nil)
        try await restoration.kept.flush()
    }

    /// Discards the restored state of one device that no caller has taken up: the link or the connection request;
    /// if a caller has taken up the link, the subscriptions for which that caller has not asked. Returns when the
    /// change is on the disk.
    public func dismissRestored(_ id: Peripheral.Identifier) async throws(BLEError) {
        guard let restoration else { return }
        restoration.dismiss(id)
        try await restoration.kept.flush()
    }

    /// Keeps the state on the disk as it is: what ends in this process from now on is still restored at the next
    /// start. A program calls this when it is about to end.
    public func keepForNextStart() { restoration?.keepForNextStart() }

    /// Returns the devices to which managers with this name have ever had a link, the latest first: at most
    /// 1,024, and only those that keep their address.
    public func retrieveKnownPeripherals() async -> [KnownPeripheral] {
        guard let restoration else { return [] }
        return await adapter.known(restoration.kept.value.latest)
    }
}
