import ATT
import BLECore
import GATTClient
import Testing

/// Full discovery of a random database finds exactly its contents, at any MTU.
@Test(arguments: 0..<16)
func discoveryFindsWholeDatabase(block: UInt64) throws {
    for seed in (block * 100)..<(block * 100 + 25) {
        var random = SplitMix64(seed: seed)
        let database = RandomDatabase(&random)
        let mtu = UInt16(random.one(in: 3) ? 23 : random.number(23...517))
        var served = try ServedLinks(database.services)
        let server: ([UInt8]) -> [[UInt8]] = { served.answers(to: $0, on: 0) }
        var client = try JoinedEnds(mtu: mtu, server)
        try #require(client.mtu == ATTMTU(mtu))
        let found = try client.run(DiscoverDatabase(), limit: 5000, server)
        try #require(
            found.map { describe($0) } == structure(of: database.model.attributes),
            "seed \(seed), MTU \(mtu)")
        try #require(client.requests <= bound(database.model.attributes), "seed \(seed), MTU \(mtu)")
        // Discovery of one service type finds exactly the primary services of that type.
        let uuid = random.element(RandomDatabase.uuids)
        let some = try client.run(DiscoverDatabase(service: uuid), limit: 5000, server)
        try #require(
            some?.services == found?.services(uuid).filter(\.isPrimary), "seed \(seed), MTU \(mtu)")
    }
}

/// Returns the maximum number of requests. Each request except the last of a walk finds at least one attribute.
/// At most five walks find the same attribute, and each service and each characteristic ends at most two walks.
private func bound(_ attributes: [ModelAttribute]) -> Int { 7 * attributes.count + 2 }

/// Returns the expected result of the discovery of the rows, in the form of `describe`.
private func structure(of attributes: [ModelAttribute]) -> [String] {
    func type(_ row: ModelAttribute) -> Int {
        let isShort = row.type == ReferenceModel().uuid(row.type[12..<14])
        return isShort ? Int(row.type[12]) | Int(row.type[13]) << 8 : 0
    }
    func hex(_ handle: Int) -> String { UInt16(handle).hex }
    func word(_ octets: [UInt8], _ at: Int) -> Int { Int(octets[at]) | Int(octets[at + 1]) << 8 }
    var lines: [String] = []
    var valueHandle = 0
    for row in attributes {
        switch (row.kind, type(row)) {
        case (.declaration, 0x2800):
            lines.append("service \(hex(row.handle))-\(hex(row.groupEnd)) \(text(row.value))")
        case (.declaration, 0x2801):
            lines.append("secondary service \(hex(row.handle))-\(hex(row.groupEnd)) \(text(row.value))")
        case (.declaration, 0x2802):
            let (start, end) = (word(row.value, 0), word(row.value, 2))
            let uuid = attributes.first { $0.handle == start }?.value ?? []
            lines.append("include \(hex(row.handle)) \(hex(start))-\(hex(end)) \(text(uuid))")
        case (.declaration, _):
            valueHandle = word(row.value, 1)
            let properties = CharacteristicProperties(rawValue: row.value[0])
            lines.append(
                "characteristic \(hex(row.handle))-\(hex(row.groupEnd)) \(text(Array(row.value[3...]))) "
                    + "value \(hex(valueHandle)) \(properties)")
        case (.value, _): break
        case (.configuration, _), (.descriptor, _):
            lines.append("descriptor \(hex(row.handle)) \(text(row.type))")
        }
    }
    return lines
}

/// Returns a UUID of 2 or 16 octets as text.
private func text(_ octets: [UInt8]) -> String {
    let all = octets.count == 2 ? ReferenceModel().uuid(octets[...]) : octets
    return BluetoothUUID(all.reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }).description
}
