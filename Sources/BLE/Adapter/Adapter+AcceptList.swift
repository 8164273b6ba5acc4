import BLECore
import HCI

extension Adapter {
    /// Gives the filter accept list to connection attempts, with `devices` on it. A scan that filters by it
    /// goes on without. Again with other devices only while no attempt filters by it; `releaseAcceptList`
    /// gives it back.
    ///
    /// Throws `BLEError.limit` when the controller has not so many places. Not on kernel adapters, whose list
    /// is the kernel's.
    func takeAcceptList(for devices: Set<DeviceAddress>) async throws(BLEError) {
        guard kernel == nil else { throw .adapter(.unsupported("an accept list beside the kernel's")) }
        let capacity = capabilities.acceptListSize
        guard devices.count <= capacity else {
            throw .limit("the devices of the accept list", limit: capacity, value: devices.count)
        }
        acceptList.isForConnecting = true
        reconcileScan()
        await radioIdle()
        try await fillAcceptList(with: devices)
    }

    /// Connecting needs the filter accept list no more: a scan may have it again.
    func releaseAcceptList() {
        guard acceptList.isForConnecting else { return }
        acceptList.isForConnecting = false
        reconcileScan()
    }

    /// Makes the list hold `devices` and nothing else. Only while nothing filters by it.
    func fillAcceptList(with devices: Set<DeviceAddress>) async throws(BLEError) {
        let changes = acceptList.begin(devices)
        if changes.clears { _ = try await send(LEClearFilterAcceptList()) }
        for device in changes.additions {
            _ = try await send(LEAddDeviceToFilterAcceptList(device: HCIAddress(device)))
        }
        acceptList.settle(devices)
    }
}
