import AssignedNumbers
import BLECore
import Testing

@Suite struct AssignedNumbersTests {
    @Test(
        arguments: [
            (0x0000, "Ericsson AB"),
            (0x004c, "Apple, Inc."),
            (0x0059, "Nordic Semiconductor ASA"),
            (0x0499, "Ruuvi Innovations Ltd."),
            // The package contains this name in a wrong encoding.
            (0x0c73, "Truma Gerätetechnik GmbH & Co. KG"),
            (0x0380, "LLC \"MEGA-F service\""),
        ] as [(UInt16, String)])
    func companyNamesAreFound(_ identifier: UInt16, _ name: String) {
        #expect(AssignedNumbers.companyName(identifier) == name)
    }

    @Test func unassignedNumbersHaveNoName() {
        #expect(AssignedNumbers.companyName(0xfffe) == nil)
        #expect(AssignedNumbers.name(of: 0x0000) == nil)
        #expect(AssignedNumbers.name(of: 0x18ff) == nil)
        #expect(AssignedNumbers.name(of: 0xffff) == nil)
        #expect(AssignedNumbers.name(of: BluetoothUUID(uint32: 0x0001_180f)) == nil)
        #expect(AssignedNumbers.kind(of: 0x0000) == nil)
        #expect(AssignedNumbers.appearanceName(0xffff) == nil)
    }

    @Test(
        arguments: [
            (0x1800, .service, "Generic Access"),
            (0x180f, .service, "Battery Service"),
            (0x2800, .declaration, "Primary Service"),
            (0x2902, .descriptor, "Client Characteristic Configuration"),
            (0x2a19, .characteristic, "Battery Level"),
            (0x2b90, .characteristic, "Device Time"),
            // The package contains these numbers in decimal.
            (0xfeff, .member, "GN Netcom"),
            (0xfffe, .member, "Wireless Power Transfer"),
            (0xfccc, .member, "Wi-Fi Easy Connect Specification"),
            // The name of a service takes precedence over the name of its member.
            (0xfeaa, .member, "Eddystone"),
            (0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e, .service, "Nordic UART Service"),
            (0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e, .characteristic, "UART RX Characteristic"),
        ] as [(BluetoothUUID, AssignedNumbers.UUIDKind, String)])
    func uuidsHaveKindsAndNames(_ uuid: BluetoothUUID, _ kind: AssignedNumbers.UUIDKind, _ name: String) {
        #expect(AssignedNumbers.name(of: uuid) == name)
        #expect(AssignedNumbers.kind(of: uuid) == kind)
        #expect(AssignedNumbers.uuid(named: name, kind: kind) == uuid)
        #expect(AssignedNumbers.uuid(named: name.uppercased().replacing(" ", with: "_"), kind: kind) == uuid)
        #expect(AssignedNumbers.uuid(named: name.lowercased().replacing(" ", with: "-"), kind: kind) == uuid)
        #expect(AssignedNumbers.uuids(containing: String(name.dropFirst())).contains { $0.uuid == uuid })
    }

    @Test(
        arguments: [
            ("Battery Service", 0x180f), ("battery", 0x180f), ("Battery Level", 0x2a19),
            ("battery_level", 0x2a19),
            ("heart rate service", 0x180d), ("HEART-RATE", 0x180d), ("Device Time", 0x1847),
            ("Eddystone", 0xfeaa), ("client characteristic configuration", 0x2902),
        ] as [(String, BluetoothUUID)])
    func namesResolveToUUIDs(_ name: String, _ uuid: BluetoothUUID) {
        #expect(AssignedNumbers.uuid(named: name) == uuid)
    }

    /// An empty name, names that do not exist, and a name that many UUIDs have.
    @Test(arguments: [
        "", "service", " service", "Batterie", "battery  level", "Apple, Inc.",
        "Apple Reserved Characteristic",
    ])
    func unknownOrAmbiguousNamesAreNotFound(_ name: String) {
        #expect(AssignedNumbers.uuid(named: name) == nil)
    }

    @Test func kindRestrictsNameLookup() {
        #expect(AssignedNumbers.uuid(named: "Device Time", kind: .characteristic) == 0x2b90)
        #expect(AssignedNumbers.uuid(named: "Battery Level", kind: .service) == nil)
        #expect(AssignedNumbers.uuid(named: "Battery", kind: .characteristic) == nil)
    }

    @Test(
        arguments: [
            (0x0000, "Unknown"), (0x0040, "Generic Phone"), (0x00c0, "Generic Watch"),
            (0x00c1, "Sports Watch"),
            (0x00ff, "Watch"), (0x0341, "Heart Rate Belt"), (0x03c1, "Keyboard"), (0x0484, "Power Sensor"),
            (0x0d41, "Insulin Pump, durable pump"), (0x0d42, "Insulin Pump"),
            (0x0d44, "Insulin Pump, patch pump"),
            (0x0d48, "Insulin Pen"), (0x1444, "Location and Navigation Pod"),
        ] as [(UInt16, String)])
    func appearanceNamesAreFound(_ appearance: UInt16, _ name: String) {
        #expect(AssignedNumbers.appearanceName(appearance) == name)
    }

    @Test func searchFindsMatchingNames() {
        #expect(AssignedNumbers.companies(containing: "nordic semi").contains { $0.identifier == 0x0059 })
        #expect(AssignedNumbers.companies(containing: "no such company").isEmpty)
        #expect(
            AssignedNumbers.appearances(containing: "watch").map(\.appearance) == [0x00c0, 0x00c1, 0x00c2])
        #expect(!AssignedNumbers.appearances(containing: "").contains { $0.appearance == 0x0d42 })
    }

    /// Every line of every table is found by its number, so the lines are sorted and complete.
    @Test func everyTableLineIsFound() {
        let companies = AssignedNumbers.companies(containing: "")
        #expect(companies.count == 3413)
        for (identifier, name) in companies { #expect(AssignedNumbers.companyName(identifier) == name) }
        let uuids = AssignedNumbers.uuids(containing: "")
        #expect(uuids.count == 62 + 48 + 428 + 178 + 16 + 4 + 667)
        // One UUID names a service and its characteristic.
        let others = uuids.filter { AssignedNumbers.name(of: $0.uuid) != $0.name }
        #expect(others.map(\.uuid) == [0x8e40_0001_f315_4f60_9fb8_8388_30da_ea50])
    }
}
