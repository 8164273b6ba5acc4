/// The state that a central manager has restored from the last process with its name.
public struct RestoredCentralState: Hashable, Sendable {
    /// The devices to which there was a link, or to which a caller was connecting. The manager connects to them
    /// again.
    public let peripherals: [RestoredPeripheral]
    /// The scans that were under way. The manager has started them again.
    public let scans: [ScanOptions]
    /// The devices to which there has ever been a link, the latest first: at most 1,024, and only those that keep
    /// their address.
    public let known: [Peripheral.Identifier]
    /// The errors in the parts of the file that could not be read. The file is kept beside the new one, under
    /// another name.
    public let problems: [StateError]

    init(_ kept: KeptState<CentralState>) {
        let state = kept.value
        peripherals = state.peripherals
        scans = state.scans.sorted { $0.key < $1.key }.map(\.value)
        known = state.latest
        problems = kept.problems
    }

    /// Creates the empty state of a manager that restores nothing.
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
    /// **What is kept:** the device and the options of each `connect`, from its call until it fails, is
    /// cancelled, its link ends or `disconnect` of the peripheral is called; the same of each `maintain`,
    /// until its loop is left; the streams of `values(of:)` on these links, until they are left; the scans of
    /// `scan(_:)`, until they are left; the devices to which there was a link. Each of these is on the disk
    /// before its caller has the result; if the disk fails, the caller receives `BLEError.restoration`.
    /// Bonds, and the databases of bonded devices, are kept in the same folder in any case.
    ///
    /// **What is restored:** a link does not outlive its process, so the manager connects to the devices
    /// again, waits for those that are out of range, subscribes, and scans. The restored state waits for its
    /// owner: the first `connect` or `maintain` with the device, `values(of:)` with the same characteristic
    /// and options, and `scan(_:)` with the same options take up what was restored, with the values that have
    /// arrived meanwhile, instead of starting again. Links, scans and subscriptions that are not taken up
    /// continue until `dismissRestored`, including subscriptions that the owner of their link does not use.
    ///
    /// **What is not kept:** `first(_:within:where:)`, discovered databases of devices without a bond, RSSI,
    /// values that waited in streams, and writes that were not answered. A device that uses a private address
    /// and has no bond is searched for under its last address.
    ///
    /// A program that is about to end, for example at a reboot, calls `keepForNextStart()` before it leaves
    /// its loops and cancels its tasks. Otherwise the end of these loops and tasks removes the kept state.
    /// `withAdapter` makes this call when a signal ends the program. Closing the adapter keeps the state
    /// in the same way.
    ///
    /// - Parameters:
    ///   - adapter: the radio.
    ///   - name: 1 to 64 ASCII letters, digits, dots, dashes and underscores, not beginning with a dot. Only
    ///     one manager at a time can have it.
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

    /// Discards the restored state of one device that no caller has taken up: the link or the connection
    /// request; if a caller has taken up the link, the subscriptions that this caller has not requested.
    /// Returns when the change is on the disk.
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
