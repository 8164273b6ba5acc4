import ATT
import BLECore
import GATTServer
import Testing

/// Returns the database of the Core Specification's sample (5.4, Vol 3, Part G, Appendix B).
private func sample() throws -> AttributeDatabase {
    try AttributeDatabase(
        [
            GATTService(
                0x1800,
                characteristics: [
                    GATTCharacteristic(0x2a00, properties: [.read, .write]),
                    GATTCharacteristic(0x2a01, properties: .read),
                ]),
            GATTService(
                0x1801,
                characteristics: [
                    GATTCharacteristic(0x2a05, properties: .indicate),
                    GATTCharacteristic(0x2b29, properties: [.read, .write]),
                    GATTCharacteristic(0x2b2a, properties: .read),
                ]),
            GATTService(
                0x1808, includes: [.uuid(0x180f)],
                characteristics: [
                    GATTCharacteristic(
                        0x2a18, properties: [.read, .indicate, .extendedProperties],
                        descriptors: [GATTDescriptor(0x2902), GATTDescriptor(0x2900, value: [0, 0])])
                ]),
            GATTService(
                0x180f, isPrimary: false, characteristics: [GATTCharacteristic(0x2a19, properties: .read)]),
        ], generic: nil)
}

struct DatabaseHashTests {
    /// The sample's result is a number of 128 bits, which is sent with its least significant octet first.
    @Test func hashMatchesSpecificationSample() throws {
        #expect(try sample().hash.reversed().hex == "f1ca2d48ecf58bac8a8830bbb9fba990")
    }

    @Test func hashCharacteristicHoldsDatabaseHash() throws {
        let database = try AttributeDatabase([GATTService(0x180f)])
        let handle = try #require(database.valueHandle(of: .databaseHash))
        #expect(database[handle]?.value == database.hash)
        let other = try AttributeDatabase([GATTService(0x1810)])
        #expect(other.hash != database.hash)
    }

    @Test func hashIgnoresValues() throws {
        var server = GATTServer(
            try AttributeDatabase([
                GATTService(
                    0x180f,
                    characteristics: [
                        GATTCharacteristic(
                            0x2a19, properties: .read, value: .stored([1]),
                            descriptors: [.userDescription("a")])
                    ])
            ]))
        let before = server.database.hash
        let value = try #require(server.database.valueHandle(of: 0x2a19))
        try server.setValue([2], of: value)
        try server.setValue([3], of: try #require(value.next))
        #expect(server.database.hash == before)
    }
}
