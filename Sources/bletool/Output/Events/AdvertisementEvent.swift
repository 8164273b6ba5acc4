import BLECore

/// `scan`: one packet, with what is known of its sender.
struct AdvertisementEvent: Event {
    /// The sender; nil when it does not say.
    var address: DeviceAddress?
    /// The lasting address behind a resolvable one, when the bond tells.
    var identity: DeviceAddress?
    /// Strength at the antenna in dBm.
    var rssi: Int8?
    /// Whether the sender takes connections.
    var isConnectable: Bool
    /// Whether the sender answers scan requests.
    var isScannable: Bool
    /// Whether this packet is such an answer.
    var isScanResponse: Bool
    /// Whether this is a legacy packet.
    var isLegacy: Bool
    /// The PHY of the primary channels: `1m` or `coded`.
    var primaryPHY = "1m"
    /// The PHY of the secondary channels, for extended packets.
    var secondaryPHY: String?
    /// The advertising set, for extended packets.
    var set: UInt8?
    /// The power of the transmitter in dBm, as an extended packet's header says; else the field tells.
    var txPower: Int8?
    /// The fields of the sender's advertisement and scan response.
    var fields: AdvertisingData
    /// The payload of this packet.
    var payload: [UInt8]
    /// When it was received.
    var time: Timestamp
    /// The name of a company.
    var companyName: @Sendable (CompanyIdentifier) -> String?

    var json: JSONValue {
        let name = fields.localName
        return [
            "event": "advertisement", "address": JSONValue(address),
            "addressType": JSONValue(typeOf: address),
            "kind": JSONValue(address?.kind.rawValue), "identity": JSONValue(identity),
            "rssi": JSONValue(rssi),
            "connectable": JSONValue(isConnectable), "scannable": JSONValue(isScannable),
            "scanResponse": JSONValue(isScanResponse), "legacy": JSONValue(isLegacy),
            "primaryPhy": JSONValue(primaryPHY), "secondaryPhy": JSONValue(secondaryPHY),
            "sid": JSONValue(set),
            "txPower": JSONValue(txPower ?? fields.txPower), "name": JSONValue(name?.text),
            "nameComplete": JSONValue(name?.isComplete ?? false), "services": JSONValue(fields.serviceUUIDs),
            "solicited": JSONValue(fields.solicitedServiceUUIDs),
            "manufacturer": .array(fields.manufacturerData.map(json)),
            "serviceData": .array(
                fields.serviceData.map { ["uuid": JSONValue($0.uuid), "data": JSONValue(hex: $0.data)] }),
            "appearance": JSONValue(fields.appearance?.rawValue), "flags": JSONValue(fields.flags?.rawValue),
            "data": JSONValue(hex: payload), "time": JSONValue(time.description),
        ]
    }

    private func json(_ data: ManufacturerData) -> JSONValue {
        [
            "company": JSONValue(data.company.rawValue), "companyName": JSONValue(companyName(data.company)),
            "data": JSONValue(hex: data.data),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let rssi = rssi.map { "\($0)" } ?? "?"
        let space = String(repeating: " ", count: max(0, 4 - rssi.count))
        let sender = Style.cyan(address?.description ?? "anonymous", when: colored)
        var parts = ["\(space)\(rssi) dBm  \(sender)"]
        if let name = fields.localName {
            parts.append(
                Style.bold(name.text.quoted, when: colored) + (name.isComplete ? "" : " (shortened)"))
        }
        let services = fields.serviceUUIDs.map(\.description)
        if !services.isEmpty { parts.append("services \(services.joined(separator: ","))") }
        for data in fields.manufacturerData {
            // The name of 0xffff, which is for tests, is a sentence.
            let name = companyName(data.company).flatMap { $0.count <= 48 ? $0.printable : nil }
            parts.append("\(name ?? "\(data.company)"):\(data.data.hex)")
        }
        for data in fields.serviceData { parts.append("\(data.uuid):\(data.data.hex)") }
        if let problem = fields.problem { parts.append(Style.red("malformed: \(problem)", when: colored)) }
        return [parts.joined(separator: "  ")]
    }
}
