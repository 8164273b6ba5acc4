import BLECore
import HCISocket

/// A kernel adapter as it is now.
public struct AdapterDescription: Hashable, Sendable {
    /// Its number: 0 for hci0.
    public var index: UInt16
    /// Its public address; all zeros when it has none.
    public var address: DeviceAddress
    /// Its name.
    public var name: String
    /// The HCI version's number: 10 is Bluetooth 5.1, 13 is 5.4.
    public var version: UInt8
    /// The manufacturer's company identifier.
    public var manufacturer: UInt16
    /// What it can be set to.
    public var supported: Management.Settings
    /// What it is set to.
    public var current: Management.Settings
}

extension Adapter {
    /// The kernel's adapters, in order. Needs no capability. Throws `.adapter(.noBluetooth)` where the
    /// system has no Bluetooth at all.
    public static func list(on loop: EventLoop = .shared) async throws(BLEError) -> [AdapterDescription] {
        let management = try await KernelManagement.open(on: loop)
        do throws(BLEError) {
            let adapters = try await management.adapters().map { AdapterDescription($0) }
            await management.close()
            return adapters
        } catch {
            await management.close()
            throw error
        }
    }
}

extension AdapterDescription {
    init(_ adapter: KernelManagement.KnownAdapter) {
        let information = adapter.information
        self.init(
            index: adapter.index, address: DeviceAddress(information.address, type: .public),
            name: information.name, version: information.version, manufacturer: information.manufacturer,
            supported: information.supported, current: information.current)
    }
}
