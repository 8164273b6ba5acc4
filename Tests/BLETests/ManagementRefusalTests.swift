import HCISocket
import Testing

@testable import BLE

struct ManagementRefusalTests {
    @Test(
        "what the kernel's refusals mean",
        arguments: [
            (0x14, false, .permission(capability: "CAP_NET_ADMIN", operation: "this")),
            (0x14, true, .permission(capability: "CAP_NET_ADMIN", operation: "this")),
            (0x11, false, .adapter(.missing("hci9000"))), (0x12, true, .adapter(.blocked(.software))),
            (0x03, true, .adapter(.cannotPower("hci9000: failed"))),
            (0x0a, false, .adapter(.unsupported("this: busy"))),
        ] as [(UInt8, Bool, BLEError)])
    func meaning(status: UInt8, isPowerOn: Bool, expected: BLEError) {
        let status = ManagementStatus(rawValue: status)
        #expect(
            KernelManagement.meaning(of: status, index: 9000, isPowerOn: isPowerOn, "this") == expected)
    }
}
