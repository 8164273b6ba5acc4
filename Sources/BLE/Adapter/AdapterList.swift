import BLECore
import HCI
import HCISocket

/// A kernel adapter and its current state.
public struct AdapterDescription: Hashable, Sendable {
    /// The number of the adapter: 0 for hci0.
    public var index: UInt16
    /// The adapter's public address; all zeros when it has none.
    public var address: DeviceAddress
    /// The random static address that the kernel uses in place of the public one; nil when it uses the public one, or
    /// when this process cannot read which it is.
    package var staticAddress: DeviceAddress?
    /// The kernel's name of the adapter, "hci0".
    public var name: String
    /// The HCI version; 0 when it is not known.
    public var version: CoreVersion
    /// The company identifier of the controller's manufacturer.
    public var manufacturer: UInt16
    /// The settings that the adapter supports.
    package var supported: Management.Settings
    /// The settings that are on, as the kernel reports them.
    package var current: Management.Settings
    /// The USB port of the adapter in the kernel's numbering (`1-1.4`); nil when it is not on USB.
    public var usbPort: String?
    /// Whether the adapter is powered on. Opening an adapter that is off powers it on.
    public var isPowered: Bool { current.contains(.powered) }
    /// Whether the adapter can be opened, or why not.
    public var availability = Availability.available
    /// The LE devices to which the adapter has links, those of other programs included. Nil when the kernel does
    /// not list them: to a process without CAP_NET_ADMIN, or while the adapter is off. `Adapter.list()` asks for
    /// the links; the descriptions of `Adapter.changes()` do not contain them.
    public var links: [DeviceAddress]?

    /// Returns whether commands can use the adapter: it is available and supports LE, and no switch keeps it
    /// from being on.
    package func isUsable(with switches: [RadioSwitch]) -> Bool {
        availability == .available && supported.contains(.lowEnergy)
            && (isPowered || switches.block(of: index) == nil)
    }

    /// Whether an adapter can be opened, or what prevents it.
    public enum Availability: Hashable, Sendable {
        /// The kernel shares the adapter. Of adapters with another availability only the index, the address and
        /// the USB port are known.
        case available
        /// Another process uses the adapter exclusively, through the HCI user channel.
        case taken
        /// No process can use the adapter: its driver is setting it up, or has failed to, for example because
        /// firmware is missing.
        case notSetUp
    }
}

extension Adapter {
    /// Returns the kernel's adapters in the order of their indices, including those that the kernel does not
    /// share now. Needs no capability. Throws `BLEError.adapter(.noBluetooth)` when the system has no
    /// Bluetooth.
    public static func list(on loop: EventLoop = .shared) async throws(BLEError) -> [AdapterDescription] {
        let management = try await KernelManagement.open(on: loop)
        do throws(BLEError) {
            let adapters = try await AdapterDescription.all(of: management)
            await management.close()
            return adapters
        } catch {
            await management.close()
            throw error
        }
    }
}

extension AdapterDescription {
    /// Returns all adapters, with their links.
    static func all(of management: KernelManagement) async throws(BLEError) -> [AdapterDescription] {
        var all = all(listed: try await management.adapters(), by: management.kernel)
        for place in all.indices where all[place].availability == .available && all[place].isPowered {
            all[place].links = try? await management.connections(of: all[place].index).peers
        }
        return all
    }

    /// Returns the adapters that the management interface lists and those that it omits, in the order of
    /// their indices.
    static func all(
        listed: [KernelManagement.KnownAdapter], by kernel: any Kernel
    ) -> [AdapterDescription] {
        let files = kernel.files
        let indices = Set(listed.map(\.index))
        let others = files.adapters.filter { !indices.contains($0) }.compactMap { index in
            (try? kernel.device(index)).map { AdapterDescription(index, $0) }
        }
        return (listed.map { AdapterDescription($0) } + others).sorted { $0.index < $1.index }.map { one in
            var one = one
            one.usbPort = files.usbPort(of: one.index)
            if one.current.contains(.staticAddress) { one.staticAddress = files.identity(of: one.index) }
            return one
        }
    }

    private init(_ index: UInt16, _ state: HCIDeviceState) {
        self.init(
            index: index, address: DeviceAddress(state.address, type: .public), name: "",
            version: CoreVersion(rawValue: 0),
            manufacturer: 0xffff, supported: [], current: [], availability: state.isUp ? .taken : .notSetUp)
    }

    init(_ adapter: KernelManagement.KnownAdapter) {
        let information = adapter.information
        self.init(
            index: adapter.index, address: DeviceAddress(information.address, type: .public),
            name: information.name, version: CoreVersion(rawValue: information.version),
            manufacturer: information.manufacturer,
            supported: information.supported, current: information.current)
    }
}

extension AdapterSpecification.KernelAdapter {
    /// Returns whether this specification names `adapter`.
    package func names(_ adapter: AdapterDescription) -> Bool {
        switch self {
        case .index(let index): adapter.index == index
        case .address(let bits): adapter.address.value == bits || adapter.staticAddress?.value == bits
        case .usb(let port): adapter.usbPort == port
        }
    }
}
