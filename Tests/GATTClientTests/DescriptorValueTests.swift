import ATT
import BLECore
import GATTClient
import Testing

/// The values of descriptors: one row each, with octets written by hand from Vol 3, Part G, 3.3.3.
struct DescriptorValueTests {
    private static let rows: [(BluetoothUUID, [UInt8], DescriptorValue)] = [
        (0x2900, [0x01, 0x00], .extendedProperties(.reliableWrite)),
        (0x2900, [0x02, 0x80], .extendedProperties(ExtendedCharacteristicProperties(rawValue: 0x8002))),
        (0x2901, [0x54, 0xc3, 0xa4], .userDescription("Tä")),
        (0x2901, [], .userDescription("")),
        (0x2902, [0x03, 0x00], .clientConfiguration([.notify, .indicate])),
        (0x2903, [0x01, 0x00], .serverConfiguration(isBroadcast: true)),
        (0x2903, [0x02, 0x00], .serverConfiguration(isBroadcast: false)),
        (
            0x2904, [0x0e, 0xfe, 0x2f, 0x27, 0x01, 0x06, 0x01],
            .presentationFormat(
                CharacteristicPresentationFormat(.sint16, exponent: -2, unit: 0x272f, meaning: 0x0106))
        ),
        (0x2905, [0x10, 0x00, 0x11, 0x01], .aggregateFormat([0x0010, 0x0111])),
        (0x2905, [], .aggregateFormat([])),
        (0x290d, [1, 2, 3], .other([1, 2, 3])),
    ]

    @Test(arguments: rows) func descriptorValuesDecode(
        _ uuid: BluetoothUUID, _ octets: [UInt8], _ value: DescriptorValue
    ) throws {
        #expect(try DescriptorValue(uuid, octets) == value)
    }

    @Test(arguments: [0x2900, 0x2902, 0x2903, 0x2904, 0x2905] as [UInt16])
    func otherLengthsFailToDecode(_ type: UInt16) throws {
        let lengths = [0x2904: [0, 1, 6, 8], 0x2905: [1, 3]][type] ?? [0, 1, 3]
        for length in lengths {
            #expect(throws: DecodeError.self) {
                try DescriptorValue(BluetoothUUID(type), [UInt8](repeating: 1, count: length))
            }
        }
    }
}
