import BLEAdvertising
import BLECore
import HCI

extension DecodedLayer {
    /// The payload of an advertising packet. Malformed parts are reported, and the rest is still read.
    package static func advertising(_ bytes: [UInt8]) -> DecodedLayer {
        let data = AdvertisingData(bytes)
        let problems = data.problems.map(\.description)
        return DecodedLayer(
            .adv, name: "Advertising Data", bytes: bytes, .advertising(data),
            problem: problems.isEmpty ? nil : problems.joined(separator: "; "))
    }
}

extension DecodedFields {
    /// What a payload says, under the names that scans use, and then each AD structure by itself.
    init(_ data: AdvertisingData) {
        self.init(summaryOf: data)
        let structures = data.structures.map { structure in
            FieldValue.fields([
                "type": .number(Int(structure.type.rawValue)), "name": .name(structure.type),
                "data": .octets(data.bytes[structure.content]),
            ])
        }
        append("structures", .list(structures))
    }

    /// What a payload says, without what it leaves out.
    init(summaryOf data: AdvertisingData) {
        self = [:]
        if let flags = data.flags { append("flags", .number(Int(flags.rawValue))) }
        if let name = data.localName {
            append("name", .text(name.text))
            append("nameComplete", .bool(name.isComplete))
        }
        append("services", data.serviceUUIDs)
        append("solicited", data.solicitedServiceUUIDs)
        let companies = data.manufacturerData
        if !companies.isEmpty {
            let values = companies.map { data in
                FieldValue.fields([
                    "company": .number(Int(data.company.rawValue)), "data": .octets(data.data),
                ])
            }
            append("manufacturer", .list(values))
        }
        let services = data.serviceData
        if !services.isEmpty {
            let values = services.map {
                FieldValue.fields(["uuid": .name($0.uuid), "data": .octets($0.data)])
            }
            append("serviceData", .list(values))
        }
        let beacons = data.beacons.compactMap { try? $0.get() }
        if !beacons.isEmpty { append("beacons", .list(beacons.map { .fields(DecodedFields($0)) })) }
        if let power = data.txPower { append("txPower", .power(power)) }
        if let appearance = data.appearance { append("appearance", .number(Int(appearance.rawValue))) }
        if let uri = data.uri { append("uri", .text(uri.text)) }
    }

    /// What a beacon says. What is encrypted stays so.
    private init(_ beacon: Beacon) {
        self = ["format": .text(beacon.format)]
        for reading in beacon.readings {
            switch reading.value {
            case .quantity(let value):
                let whole = value.unit == .one ? value.number.mantissa(atExponent: 0).flatMap(Int.init) : nil
                append(reading.name, whole.map(FieldValue.number) ?? .name(value))
            case .state(_, let word): append(reading.name, .text(word))
            case .text(let text): append(reading.name, .text(text))
            case .octets(let octets): append(reading.name, .octets(octets))
            }
        }
        if case .bthome(let news) = beacon, let ending = news.ending { append("problem", .name(ending)) }
    }

    private mutating func append(_ name: String, _ uuids: [BluetoothUUID]) {
        if !uuids.isEmpty { append(name, .list(uuids.map { .name($0) })) }
    }

    /// The reports of a legacy scanner, with what their data say. Most packets of many recordings are these,
    /// and reflection would take its time.
    init(_ event: LEAdvertisingReports) {
        let reports = event.reports.map { report in
            FieldValue.fields([
                "type": FieldValue(report.type),
                "address": report.address.deviceAddress.map { .name($0) } ?? .null,
                "data": .octets(report.data), "rssi": .power(report.rssi),
                "advertising": .fields(DecodedFields(summaryOf: AdvertisingData(report.data))),
            ])
        }
        self = ["reports": .list(reports)]
    }

    /// The reports of an extended scanner, with what their data say.
    init(_ event: LEExtendedAdvertisingReports) {
        let reports = event.reports.map { report in
            var fields = DecodedFields(reflecting: report)
            fields.append(
                "advertising", .fields(DecodedFields(summaryOf: AdvertisingData(report.data))))
            return FieldValue.fields(fields)
        }
        self = ["reports": .list(reports)]
    }
}
