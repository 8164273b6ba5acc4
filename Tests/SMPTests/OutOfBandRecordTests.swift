import BLEAdvertising
import BLECore
import SMP
import Testing

/// The octets of records and their values (Core Specification Supplement, Part A, 1.7, 1.8, 1.16 and 1.17).
/// All numbers have their least significant octet first.
private let records: [(octets: String, record: OutOfBandRecord)] = [
    (
        "081b5544332211c001" + "021c02"
            + "112200112233445566778899aabbccddeeff" + "1123ff000000000000000000000000000001",
        OutOfBandRecord(
            .secureConnections(
                confirm: 0xffee_ddcc_bbaa_9988_7766_5544_3322_1100,
                random: 0x0100_0000_0000_0000_0000_0000_0000_00ff),
            of: DeviceAddress(0xc011_2233_4455, type: .random), role: .peripheralPreferred)
    ),
    (
        "081b55443322110000" + "021c01" + "111001020300000000000000000000000000",
        OutOfBandRecord(
            .temporaryKey(0x030201), of: DeviceAddress(0x0011_2233_4455, type: .public), role: .central)
    ),
    ("111001000000000000000000000000000000", OutOfBandRecord(.temporaryKey(1))),
]

struct OutOfBandRecordTests {
    @Test(arguments: records)
    func recordsRoundTrip(_ octets: String, _ record: OutOfBandRecord) throws {
        let bytes = try #require([UInt8](hex: octets))
        #expect(try OutOfBandRecord(AdvertisingData(bytes)) == record)
        #expect(record.advertisingData.bytes == bytes)
    }

    @Test(arguments: records)
    func truncatedRecordsFailToDecode(_ octets: String, _ record: OutOfBandRecord) throws {
        let bytes = try #require([UInt8](hex: octets))
        for count in 0..<bytes.count {
            #expect(throws: DecodeError.self) {
                try OutOfBandRecord(AdvertisingData(Array(bytes.prefix(count))))
            }
        }
        #expect(throws: DecodeError.self) { try OutOfBandRecord(AdvertisingData(bytes + [9])) }
    }

    /// A tag can carry data for both kinds of pairing, and a name. The data for LE Secure Connections are used.
    @Test func secureConnectionsDataIsPreferred() throws {
        let bytes = try #require(
            [UInt8](
                hex: "111001000000000000000000000000000000" + "0409616263"
                    + "112202000000000000000000000000000000" + "112303000000000000000000000000000000"))
        #expect(
            try OutOfBandRecord(AdvertisingData(bytes))
                == OutOfBandRecord(.secureConnections(confirm: 2, random: 3)))
    }
}
