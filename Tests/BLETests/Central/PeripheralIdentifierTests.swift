import BLE
import BLECore
import Testing

/// Identifiers of peripherals, which contain the address and its type.
struct PeripheralIdentifierTests {
    private static let rows: [(DeviceAddress, String, isLasting: Bool)] = [
        (DeviceAddress(0xc011_2233_4455, type: .random), "c0112233-4455-8001-8062-6c65746f6f6c", true),
        (DeviceAddress(0xc011_2233_4455, type: .public), "c0112233-4455-8000-8062-6c65746f6f6c", true),
        (DeviceAddress(0x4011_2233_4455, type: .random), "40112233-4455-8001-8062-6c65746f6f6c", false),
        (DeviceAddress(0x0011_2233_4455, type: .random), "00112233-4455-8001-8062-6c65746f6f6c", false),
        (DeviceAddress(0, type: .public), "00000000-0000-8000-8062-6c65746f6f6c", true),
    ]

    @Test(arguments: rows) func identifierConvertsToAddressAndBack(
        _ address: DeviceAddress, _ text: String, _ isLasting: Bool
    ) {
        let id = Peripheral.Identifier(address)
        #expect(id.description == text)
        #expect(Peripheral.Identifier(text.uppercased()) == id)
        #expect(Peripheral.Identifier(id.uuid)?.address == address)
        #expect(id.isLasting == isLasting)
        #expect(id.kind == address.kind)
    }

    @Test(arguments: [
        "", "180f", "c0112233-4455-8002-8062-6c65746f6f6c", "c0112233-4455-4001-8062-6c65746f6f6c",
        "c0112233-4455-8011-8062-6c65746f6f6c", "c0112233-4455-8001-8062-6c65746f6f6d",
        "c0112233-4455-8001-c062-6c65746f6f6c", "0000180f-0000-1000-8000-00805f9b34fb",
    ])
    func otherUUIDsAreRefused(_ text: String) { #expect(Peripheral.Identifier(text) == nil) }
}
