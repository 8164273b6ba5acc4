import BLECore
import HCI
import Testing

@testable import BLE

/// The links of a kernel adapter, by their connection handles.
struct KernelLinksTests {
    private let handle = ConnectionHandle(0x0040)
    private let old = DeviceAddress(0xc000_0000_0001, type: .random)
    private let new = DeviceAddress(0xc000_0000_0002, type: .random)

    @Test("a channel's handle that belongs to a link to another device is stale")
    func handleOfAnotherDeviceIsTaken() {
        var links = KernelLinks()
        #expect(!links.isTaken(handle, notBy: old), "it may have begun before this process did")
        links.begin(handle, to: new, .unknown, isPeripheral: true, hasChannel: false)
        #expect(links.isTaken(handle, notBy: old))
        #expect(!links.isTaken(handle, notBy: new))
        links.end(handle, .connectionTimeout)
        #expect(!links.isTaken(handle, notBy: old))
    }

    @Test("a device with a private address can have another address in the kernel", arguments: [0x40, 0x00])
    func privateAddressCanDifferInKernel(topOctet: UInt64) {
        var links = KernelLinks()
        let address = DeviceAddress(topOctet << 40 | 1, type: .random)
        links.begin(handle, to: address, .unknown, isPeripheral: true, hasChannel: false)
        #expect(!links.isTaken(handle, notBy: old))
    }
}
