import BLECore

/// The payload of an advertising or scan response packet (Core Specification 5.4, Vol 3, Part C, 11): a
/// row of AD structures, each a length octet, a type octet and content.
///
/// The bytes stay as they came and are read on demand; asking for a field builds nothing but that field.
/// ```swift
/// let data = AdvertisingData([0x02, 0x01, 0x06, 0x05, 0x09, 0x50, 0x75, 0x6c, 0x73])
/// data.flags            // [.leGeneralDiscoverable, .brEDRNotSupported]
/// data.localName?.text  // "Puls"
/// for structure in data.structures { print(structure.type, data.bytes[structure.content]) }
/// data.problem          // nil
/// ```
public struct AdvertisingData: Hashable, Sendable {
    /// The AD structures as octets, malformed ones as well.
    public var bytes: [UInt8]

    /// Creates the data from octets, which may be malformed.
    public init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Copies octets, which may be malformed.
    package init(copying bytes: Span<UInt8>) { self.bytes = [UInt8](copying: bytes) }

    /// The AD structures up to the end, to an early termination, or to what is not one. Walking them
    /// allocates nothing.
    public var structures: some Sequence<AdvertisingStructure> & Sendable { Structures(bytes: bytes) }

    /// Why the bytes after the last structure are not one, when there are such: a length that reaches past
    /// the end (its offset is that of the length octet), or octets after an early termination that are not
    /// zero. The structures before it are good all the same.
    public var problem: DecodeError? { walked.problem }

    /// Octets that the structures take, from the first on.
    package var significantCount: Int { walked.significantCount }

    private var walked: Structures.Iterator {
        var iterator = Structures(bytes: bytes).makeIterator()
        while iterator.next() != nil {}
        return iterator
    }
}

/// Where one AD structure lies in its payload.
public struct AdvertisingStructure: Hashable, Sendable {
    /// The AD type: what the structure is about.
    public let type: AdvertisingDataType
    /// Octets from the start of the payload to the content, which may be empty.
    public let content: Range<Int>

    /// Octets from the start of the payload to the structure's length octet.
    public var offset: Int { content.lowerBound - 2 }
}

extension AdvertisingData {
    /// The AD structures of a payload.
    package struct Structures: Sequence, Sendable {
        let bytes: [UInt8]

        /// A walk from the first structure on.
        package func makeIterator() -> Iterator { Iterator(bytes: bytes) }

        package struct Iterator: IteratorProtocol, Sendable {
            let bytes: [UInt8]
            /// Octets that the structures so far take.
            package private(set) var significantCount = 0
            /// What ended the walk before the end; two numbers, so that walks stay cheap.
            private var fault: Fault?

            private enum Fault {
                case tooLong
                case notZero(at: Int)
            }

            init(bytes: [UInt8]) { self.bytes = bytes }

            /// The next structure, or nil at the end of the good ones.
            package mutating func next() -> AdvertisingStructure? {
                let start = significantCount
                guard start < bytes.count else { return nil }
                let length = Int(bytes[start])
                if length == 0 {
                    fault = bytes[start...].firstIndex { $0 != 0 }.map(Fault.notZero)
                    return nil
                }
                guard length < bytes.count - start else {
                    fault = .tooLong
                    return nil
                }
                significantCount = start + 1 + length
                return AdvertisingStructure(
                    type: AdvertisingDataType(bytes[start + 1]), content: (start + 2)..<significantCount)
            }

            /// What ended the walk before the end, once it has ended.
            package var problem: DecodeError? {
                switch fault {
                case .tooLong:
                    DecodeError(
                        packet: AdvertisingField.packetName, field: "AD structure", offset: significantCount,
                        reason: .truncated(
                            needed: Int(bytes[significantCount]),
                            available: bytes.count - significantCount - 1))
                case .notZero(let offset):
                    DecodeError(
                        packet: AdvertisingField.packetName, field: "early termination", offset: offset,
                        reason: .malformed("only zeros may follow"))
                case nil: nil
                }
            }
        }
    }
}

/// Fields, decoded when they are asked for. Each looks at the structures from the first on and passes over
/// those that are malformed.
extension AdvertisingData {
    /// All structures in order, decoded.
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

    /// The appearance of the device; nil: none or malformed.
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
