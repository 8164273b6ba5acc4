import AssignedNumbers
import BLEAdvertising
import BLECore

extension AdvertisementEvent {
    /// What a packet says beside its sender and name: beacons in words, the rest with the names of companies and
    /// services, and what is unknown in hex.
    var details: [String] {
        var parts: [String] = []
        if let services = named(fields.serviceUUIDs) { parts.append("services \(services)") }
        if let services = named(fields.solicitedServiceUUIDs) { parts.append("solicits \(services)") }
        parts += fields.manufacturerData.map { data in
            describe(beacon(data), else: company(data.company), data.data)
        }
        parts += fields.serviceData.map { data in
            describe(beacon(data), else: service(data.uuid), data.data)
        }
        if let uri = fields.uri { parts.append("uri \(uri.text.printable)") }
        if let appearance = fields.appearance {
            parts.append(
                "appearance " + (AssignedNumbers.appearanceName(appearance.rawValue) ?? "\(appearance)"))
        }
        if let power = txPower ?? fields.txPower { parts.append("sent at \(power) dBm") }
        return parts
    }

    /// UUIDs with their names; nil when there are none.
    private func named(_ uuids: [BluetoothUUID]) -> String? {
        guard !uuids.isEmpty else { return nil }
        return uuids.map { uuid in serviceName(uuid).map { "\(uuid) \($0)" } ?? "\(uuid)" }
            .joined(separator: ", ")
    }

    /// The name of a company, or its number.
    func company(_ company: CompanyIdentifier) -> String {
        // The name of 0xffff, which is for tests, is a sentence.
        companyName(company).flatMap { $0.count <= 48 ? $0.printable : nil } ?? "\(company)"
    }

    /// The name of a service, or its UUID.
    func service(_ uuid: BluetoothUUID) -> String { serviceName(uuid) ?? "\(uuid)" }

    /// A beacon in words; what is no beacon, or a malformed one, in hex.
    private func describe(_ beacon: HeardBeacon?, else owner: String, _ data: [UInt8]) -> String {
        guard let beacon else { return "\(owner):\(data.hex)" }
        return beacon.isReadable ? beacon.text : "\(owner):\(data.hex) (\(beacon.text))"
    }
}
