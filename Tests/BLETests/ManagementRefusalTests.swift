import HCISocket
import Testing

@testable import BLE

struct ManagementRefusalTests {
    @Test(
        "each refusal of kernel management maps to its error",
        arguments: [
            (0x14, false, .permission(.netAdmin, for: .connect)),
            (0x14, true, .permission(.netAdmin, for: .connect)),
            (0x11, false, .adapter(.missing(.kernel(.index(9000))))),
            (0x12, true, .adapter(.blocked(.software))),
            (0x03, true, .adapter(.cannotPower(9000, .management(.failed)))),
            (0x0a, false, .managementRefused(.connect, .busy)),
        ] as [(UInt8, Bool, BLEError)])
    func refusalMapsToError(status: UInt8, isPowerOn: Bool, expected: BLEError) {
        let status = ManagementStatus(rawValue: status)
        #expect(
            KernelManagement.meaning(of: status, index: 9000, isPowerOn: isPowerOn, .connect) == expected)
    }
}
