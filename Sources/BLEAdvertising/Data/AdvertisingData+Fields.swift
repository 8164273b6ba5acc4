import BLECore

/// Fields, decoded when they are asked for. Each looks at the structures from the first on and passes over
/// those that are malformed.
extension AdvertisingData {
    /// Every structure decoded, in order.
    package var fields: [AdvertisingField] {
        var fields: [AdvertisingField] = []
        fields.reserveCapacity(structures.reduce(0) { count, _ in count + 1 })
        for structure in structures { fields.append(field(structure)) }
        return fields
    }

    /// A structure of this payload decoded.
    package func field(_ structure: AdvertisingStructure) -> AdvertisingField {
        AdvertisingField(
            structure.type, content: bytes.span.extracting(structure.content),
            offset: structure.content.lowerBound)
    }

    /// What is wrong with the payload: the error of each malformed field in order, then `problem`.
    package var problems: [DecodeError] {
        let malformed = fields.compactMap { field in
            if case .malformed(_, _, let error) = field { error } else { nil }
        }
        return malformed + (problem.map { [$0] } ?? [])
    }

    /// The complete name, else the shortened one.
    public var localName: LocalName? {
        first(.completeLocalName) { reader throws(DecodeError) in LocalName(try UTF8Text(decoding: &reader)) }
            ?? first(.shortenedLocalName) { reader throws(DecodeError) in
                LocalName(try UTF8Text(decoding: &reader), isComplete: false)
            }
    }

    /// The flags; those in octets after the first, which are reserved, are left out.
    public var flags: AdvertisingFlags? {
        first(.flags) { reader throws(DecodeError) in
            let octets = reader.restInPlace()
            return octets.isEmpty ? [] : AdvertisingFlags(rawValue: octets[0])
        }
    }

    /// The power in dBm at which the packet was sent, if it says (TX Power Level).
    public var txPower: Int8? {
        first(.txPowerLevel) { reader throws(DecodeError) in try reader.i8("Tx power level") }
    }

    /// What the device looks like.
    public var appearance: Appearance? {
        first(.appearance) { reader throws(DecodeError) in try Appearance(decoding: &reader) }
    }

    /// The URI that the packet has, if any.
    public var uri: AdvertisedURI? {
        first(.uri) { reader throws(DecodeError) in try AdvertisedURI(decoding: &reader) }
    }

    /// The services that the device offers, of all lists in order.
    public var serviceUUIDs: [BluetoothUUID] { uuids { $0 != .solicited } }

    /// The services that the device looks for, of all lists in order.
    public var solicitedServiceUUIDs: [BluetoothUUID] { uuids { $0 == .solicited } }

    /// The data of services, in order.
    public var serviceData: [ServiceData] {
        structures.compactMap { structure in
            if case .serviceData(let data) = field(structure) { data } else { nil }
        }
    }

    /// The data of companies, in order.
    public var manufacturerData: [ManufacturerData] {
        structures.compactMap { structure in
            if case .manufacturer(let data) = field(structure) { data } else { nil }
        }
    }

    /// Whether the device says that it offers a service; allocates nothing.
    public func offers(_ service: BluetoothUUID) -> Bool {
        structures.contains { structure in
            guard let form = structure.type.uuidListForm, form.kind != .solicited,
                structure.content.count.isMultiple(of: form.width.rawValue)
            else { return false }
            var reader = ByteReader(bytes.span.extracting(structure.content), of: AdvertisingField.packetName)
            while let uuid = try? reader.uuid(form.width, "service UUID") {
                if uuid == service { return true }
            }
            return false
        }
    }

    /// Whether there are data of a company; allocates nothing.
    public func hasData(of company: CompanyIdentifier) -> Bool {
        structures.contains { structure in
            guard structure.type == .manufacturerSpecificData else { return false }
            var reader = ByteReader(bytes.span.extracting(structure.content), of: AdvertisingField.packetName)
            return (try? reader.u16("company identifier")) == company.rawValue
        }
    }

    private func first<Value>(
        _ type: AdvertisingDataType, _ decode: (inout ByteReader) throws(DecodeError) -> Value
    ) -> Value? {
        for structure in structures where structure.type == type {
            var reader = ByteReader(
                bytes.span.extracting(structure.content), of: AdvertisingField.packetName)
            if let value = try? decode(&reader), reader.remaining == 0 { return value }
        }
        return nil
    }

    private func uuids(_ isWanted: (ServiceUUIDs.Kind) -> Bool) -> [BluetoothUUID] {
        structures.flatMap { structure in
            guard let form = structure.type.uuidListForm, isWanted(form.kind),
                case .services(let list) = field(structure)
            else { return [BluetoothUUID]() }
            return list.uuids
        }
    }
}
