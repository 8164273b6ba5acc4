import BLECore
import Testing

/// The check values of the catalogue: the checksums of "123456789".
struct CyclicRedundancyCheckTests {
    @Test(
        arguments: [
            (CyclicRedundancyCheck.crc8, 0xf4), (.crc8Maxim, 0xa1), (.crc16CCITT, 0x29b1),
            (.crc16XMODEM, 0x31c3),
            (.crc16Modbus, 0x4b37), (.crc32, 0xcbf4_3926),
            // CRC-24/BLE with its usual initial value, CRC-12/UMTS without its reflected output, CRC-32C.
            (
                CyclicRedundancyCheck(width: 24, polynomial: 0x00065b, initial: 0x555555, isReflected: true),
                0xc25a56
            ),
            (
                CyclicRedundancyCheck(
                    width: 32, polynomial: 0x1edc_6f41, initial: .max, isReflected: true, finalXOR: .max),
                0xe306_9283
            ),
        ] as [(CyclicRedundancyCheck, UInt32)])
    func checkValues(_ check: CyclicRedundancyCheck, _ sum: UInt32) {
        #expect(check.checksum(of: "123456789".utf8) == sum)
    }

    @Test("any parameters are accepted", arguments: [-1, 0, 7, 8, 13, 31, 32, 33, .max])
    func anyParameters(_ width: Int) {
        let check = CyclicRedundancyCheck(
            width: width, polynomial: .max, initial: .max, isReflected: true, finalXOR: .max)
        #expect((8...32).contains(check.width))
        #expect(UInt64(check.checksum(of: [1, 2, 3])) < 1 << UInt64(check.width))
    }
}
