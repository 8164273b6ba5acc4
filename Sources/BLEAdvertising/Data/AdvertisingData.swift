import BLECore

/// The payload of an advertising or scan response packet (Core Specification 5.4, Vol 3, Part C, 11): a
/// sequence of AD structures, each with a length octet, a type octet and content.
///
/// The bytes are stored as received and decoded on demand; a request for a field decodes only that field.
/// ```swift
/// let data = AdvertisingData([0x02, 0x01, 0x06, 0x05, 0x09, 0x50, 0x75, 0x6c, 0x73])
/// data.flags            // [.leGeneralDiscoverable, .brEDRNotSupported]
/// data.localName?.text  // "Puls"
/// for structure in data.structures { print(structure.type, data.bytes[structure.content]) }
/// data.problem          // nil
/// ```
public struct AdvertisingData: Hashable, Sendable {
    /// The AD structures as octets, including malformed ones.
    public var bytes: [UInt8]

    /// Creates the data from octets, which can be malformed.
    public init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Copies octets, which can be malformed.
    package init(copying bytes: Span<UInt8>) { self.bytes = [UInt8](copying: bytes) }

    /// The AD structures up to the end, to an early termination, or to the first invalid structure. The
    /// iteration does not allocate memory.
    public var structures: some Sequence<AdvertisingStructure> & Sendable { Structures(bytes: bytes) }

    /// The error after the last structure, if any: a length that reaches past the end (its offset is that of
    /// the length octet), or octets after an early termination that are not zero. The structures before it
    /// are valid nevertheless.
    public var problem: DecodeError? { walked.problem }

    /// The number of octets up to the end of the last structure.
    package var significantCount: Int { walked.significantCount }

    private var walked: Structures.Iterator {
        var iterator = Structures(bytes: bytes).makeIterator()
        while iterator.next() != nil {}
        return iterator
    }
}

/// The position of an AD structure in its payload.
public struct AdvertisingStructure: Hashable, Sendable {
    /// The AD type: the meaning of the structure.
    public let type: AdvertisingDataType
    /// The range of the content in the payload, in octets; it can be empty.
    public let content: Range<Int>

    /// The offset of the structure's length octet in the payload.
    public var offset: Int { content.lowerBound - 2 }
}

extension AdvertisingData {
    /// The AD structures of a payload.
    package struct Structures: Sequence, Sendable {
        let bytes: [UInt8]

        /// Creates an iterator that begins at the first structure.
        package func makeIterator() -> Iterator { Iterator(bytes: bytes) }

        package struct Iterator: IteratorProtocol, Sendable {
            let bytes: [UInt8]
            /// The number of octets of the structures so far.
            package private(set) var significantCount = 0
            /// The error that ended the iteration early. It consists of two numbers, so that iterators stay
            /// small.
            private var fault: Fault?

            private enum Fault {
                case tooLong
                case notZero(at: Int)
            }

            init(bytes: [UInt8]) { self.bytes = bytes }

            /// Returns the next structure, or nil after the last valid one.
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

            /// The error that ended the iteration early, once it has ended.
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

/// Fields, which are decoded on demand. Each request examines the structures from the first on and skips
/// malformed ones.
extension AdvertisingData {
    /// All structures in order, decoded.
    package var fields: [AdvertisingField] {
        var fields: [AdvertisingField] = []
        fields.reserveCapacity(structures.reduce(0) { count, _ in count + 1 })
        for structure in structures { fields.append(field(structure)) }
        return fields
    }

    /// Decodes a structure of this payload.
    package func field(_ structure: AdvertisingStructure) -> AdvertisingField {
        AdvertisingField(
            structure.type, content: bytes.span.extracting(structure.content),
            offset: structure.content.lowerBound)
    }

    /// Whether `problems` can contain an error, found without decoding and without allocation; false for nearly all
    /// payloads.
    package var mayHaveProblems: Bool {
        var structures = Structures(bytes: bytes).makeIterator()
        while let structure = structures.next() {
            guard structure.type.isValid(octets: structure.content.count) else { return true }
        }
        return structures.problem != nil
    }

    /// The errors in the payload: that of each malformed field in order, then `problem`.
    package var problems: [DecodeError] {
        let malformed = fields.compactMap { field in
            if case .malformed(_, _, let error) = field { error } else { nil }
        }
        return malformed + (problem.map { [$0] } ?? [])
    }

    /// The complete name, or else the shortened one.
    public var localName: LocalName? {
        first(.completeLocalName) { reader throws(DecodeError) in LocalName(try UTF8Text(decoding: &reader)) }
            ?? first(.shortenedLocalName) { reader throws(DecodeError) in
                LocalName(try UTF8Text(decoding: &reader), isComplete: false)
            }
    }

    /// The flags of the first octet; those in further octets, which are reserved, are omitted.
    public var flags: AdvertisingFlags? {
        first(.flags) { reader throws(DecodeError) in
            let octets = reader.restInPlace()
            return octets.isEmpty ? [] : AdvertisingFlags(rawValue: octets[0])
        }
    }

    /// The transmit power of the packet in dBm (TX Power Level), if the packet contains it.
    public var txPower: Int8? {
        first(.txPowerLevel) { reader throws(DecodeError) in try reader.i8("Tx power level") }
    }

    /// The appearance of the device; nil if it is missing or malformed.
    public var appearance: Appearance? {
        first(.appearance) { reader throws(DecodeError) in try Appearance(decoding: &reader) }
    }

    /// The URI in the packet, if any.
    public var uri: AdvertisedURI? {
        first(.uri) { reader throws(DecodeError) in try AdvertisedURI(decoding: &reader) }
    }

    /// The services that the device offers, from all lists in order.
    public var serviceUUIDs: [BluetoothUUID] { uuids { $0 != .solicited } }

    /// The services that the device searches for, from all lists in order.
    public var solicitedServiceUUIDs: [BluetoothUUID] { uuids { $0 == .solicited } }

    /// The service data, in the order of the payload.
    public var serviceData: [ServiceData] {
        structures.compactMap { structure in
            if case .serviceData(let data) = field(structure) { data } else { nil }
        }
    }

    /// The manufacturer specific data, in the order of the payload.
    public var manufacturerData: [ManufacturerData] {
        structures.compactMap { structure in
            if case .manufacturer(let data) = field(structure) { data } else { nil }
        }
    }

    /// Returns whether the device advertises a service; does not allocate memory.
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

    /// Returns whether the payload contains data of a company; does not allocate memory.
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

extension AdvertisingDataType {
    /// Whether any content of this length is valid. It can be valid even if the result is false.
    fileprivate func isValid(octets: Int) -> Bool {
        if let form = uuidListForm { return octets.isMultiple(of: form.width.rawValue) }
        if let width = serviceDataWidth { return octets >= width.rawValue }
        return switch self {
        case .flags, .completeLocalName, .shortenedLocalName: true
        case .txPowerLevel: octets == 1
        case .appearance: octets == 2
        case .manufacturerSpecificData: octets >= 2
        default: false
        }
    }
}

extension AdvertisingData: CustomStringConvertible {
    /// The AD structures in a line, such as `Flags 06, Complete Local Name "Puls"`: texts in quotes, other content in
    /// hexadecimal, and what is malformed at the end.
    public var description: String {
        var parts = structures.map { structure in
            let content = bytes[structure.content]
            guard [.shortenedLocalName, .completeLocalName, .broadcastName].contains(structure.type) else {
                return content.isEmpty ? "\(structure.type)" : "\(structure.type) \(content.hex)"
            }
            return "\(structure.type) \"\(String(decoding: content, as: UTF8.self).printable)\""
        }
        if let problem { parts.append("\(problem)") }
        return parts.isEmpty ? "no data" : parts.joined(separator: ", ")
    }
}
