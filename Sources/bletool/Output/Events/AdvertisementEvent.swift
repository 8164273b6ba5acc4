import AssignedNumbers
import BLE
import BLEAdvertising
import BLECore

/// A result of `scan`: one packet, with what is known about its sender.
struct AdvertisementEvent: Event {
    /// The sender's address, or nil if the packet is anonymous.
    var address: DeviceAddress?
    /// The identity address of a resolvable private address, if a bond resolves it.
    var identity: DeviceAddress?
    /// The received signal strength in dBm.
    var rssi: Int8?
    /// Whether the advertiser accepts connections.
    var isConnectable: Bool
    /// Whether the sender answers scan requests.
    var isScannable: Bool
    /// Whether this packet is a scan response.
    var isScanResponse: Bool
    /// Whether this is a legacy packet.
    var isLegacy: Bool
    /// The PHY of the primary channels: `1m` or `coded`.
    var primaryPHY = "1m"
    /// The PHY of the secondary channels, for extended packets.
    var secondaryPHY: String?
    /// The advertising set, for extended packets.
    var set: UInt8?
    /// The transmit power in dBm in the header of an extended packet. Without it, the field is used.
    var txPower: Int8?
    /// The fields of the sender's advertisement and scan response.
    var fields: AdvertisingData
    /// The payload of this packet.
    var payload: [UInt8]
    /// The time of reception.
    var time: Timestamp
    /// Whether the controller lost the end of the payload.
    var isTruncated = false
    /// The interval of the periodic train that belongs to the packet.
    var periodicInterval: Duration?
    /// The keys that decrypt the packets of sensors.
    var keys = BindKeys()
    var companyName: @Sendable (CompanyIdentifier) -> String?
    var serviceName: @Sendable (BluetoothUUID) -> String? = { _ in nil }

    /// What is malformed in this packet; nil if nothing is, and for a packet whose end is missing anyway.
    var problem: String? {
        let data = AdvertisingData(payload)
        guard !isTruncated, data.mayHaveProblems else { return nil }
        let problems = data.problems
        return problems.isEmpty ? nil : problems.map(\.description).joined(separator: "; ")
    }

    var json: JSONValue {
        let name = fields.localName
        let beacons = fields.manufacturerData.compactMap(beacon) + fields.serviceData.compactMap(beacon)
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
            "truncated": JSONValue(isTruncated), "problem": JSONValue(problem),
            "periodicInterval": periodicInterval.map { JSONValue(Double($0.nanoseconds) / 1e6) } ?? .null,
            "uri": JSONValue(fields.uri?.text), "beacon": beacons.first?.json ?? .null,
            "otherBeacons": .array(beacons.dropFirst().map(\.json)),
        ]
    }

    private func json(_ data: ManufacturerData) -> JSONValue {
        [
            "company": JSONValue(data.company.rawValue), "companyName": JSONValue(companyName(data.company)),
            "data": JSONValue(hex: data.data),
        ]
    }

    /// Returns the beacon in manufacturer data, if there is one.
    func beacon(_ data: ManufacturerData) -> ReceivedBeacon? { ReceivedBeacon(data) }

    /// Returns the beacon in service data, if there is one.
    func beacon(_ data: ServiceData) -> ReceivedBeacon? {
        ReceivedBeacon(data, from: [address, identity], keys: keys)
    }

    func lines(colored: Bool) -> [String] {
        let rssi = rssi.map { "\($0)" } ?? "?"
        let space = String(repeating: " ", count: max(0, 4 - rssi.count))
        let sender = Style.cyan(address?.description ?? "anonymous", when: colored)
        var parts = ["\(space)\(rssi) dBm  \(sender)"]
        if let identity, identity != address { parts.append("is \(identity)") }
        if let name = fields.localName {
            parts.append(
                Style.bold(name.text.quoted, when: colored) + (name.isComplete ? "" : " (shortened)"))
        }
        parts += details
        if let periodicInterval { parts.append("periodic \(periodicInterval.text)") }
        if isTruncated { parts.append("truncated") }
        if let problem { parts.append(Style.red("malformed: \(problem)", when: colored)) }
        return [parts.joined(separator: "  ")]
    }
}

extension AdvertisementEvent {
    /// The contents of a packet without its sender and name: beacons as text, the rest with the names of
    /// companies and services, and unknown data in hex.
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
        // The assigned name of 0xffff, which is for tests, is a sentence.
        companyName(company).flatMap { $0.count <= 48 ? $0.printable : nil } ?? "\(company)"
    }

    /// The name of a service, or its UUID.
    func service(_ uuid: BluetoothUUID) -> String { serviceName(uuid) ?? "\(uuid)" }

    /// Returns a beacon as text. Other data, and malformed beacons, are returned in hex.
    private func describe(_ beacon: ReceivedBeacon?, else owner: String, _ data: [UInt8]) -> String {
        guard let beacon else { return "\(owner):\(data.hex)" }
        return beacon.isReadable ? beacon.text : "\(owner):\(data.hex) (\(beacon.text))"
    }
}

/// A result of `sync`: one packet of a periodic train.
struct PeriodicEvent: Event {
    var packet: PeriodicAdvertisement
    /// The time of reception.
    var time: Timestamp

    var json: JSONValue {
        [
            "event": "periodic", "address": JSONValue(packet.address),
            "addressType": JSONValue(typeOf: packet.address), "sid": JSONValue(packet.set),
            "rssi": JSONValue(packet.rssi), "txPower": JSONValue(packet.txPower),
            "data": JSONValue(hex: packet.fields.bytes), "time": JSONValue(time.description),
            "truncated": JSONValue(packet.isTruncated),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let rssi = packet.rssi.map { "\($0)" } ?? "?"
        let space = String(repeating: " ", count: max(0, 4 - rssi.count))
        let sender = Style.cyan(packet.address.description, when: colored)
        let end = packet.isTruncated ? "  truncated" : ""
        return ["\(space)\(rssi) dBm  \(sender)  set \(packet.set)  \(packet.fields.bytes.hex)\(end)"]
    }
}

/// The losses of a scan, shown at its end if there were any.
struct ScanLossEvent {
    /// The number of advertisements that arrived too fast to be processed.
    var dropped: Int
    /// The number of devices that were evicted, and count as new when they are received again.
    var evicted: Int

    var isNone: Bool { dropped == 0 && evicted == 0 }

    /// The JSON object, which follows those of the advertisements.
    var json: JSONValue { ["event": "loss", "dropped": JSONValue(dropped), "evicted": JSONValue(evicted)] }

    /// The messages on stderr, one for each kind of loss.
    var notes: [String] {
        var notes: [String] = []
        if dropped > 0 { notes.append("scan: \(dropped) advertisements came too fast to be shown") }
        if evicted > 0 {
            notes.append(
                "scan: more than 4,096 devices, or 4 MiB of their data; "
                    + "\(evicted) were forgotten and count as new again")
        }
        return notes
    }

    /// Shows the losses: messages on stderr and, with `--json`, also the object.
    func show(on console: Console) {
        if console.isJSON { console.output.line(json) }
        for note in notes { console.note(note) }
    }
}
