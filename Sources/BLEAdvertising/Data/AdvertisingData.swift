import BLECore

/// The payload of an advertising or scan response packet (Core Specification 5.4, Vol 3, Part C, 11): a
/// row of AD structures, each a length octet, a type octet and content.
///
/// The bytes stay as they came and are read on demand; asking for a field builds nothing but that field.
/// ```swift
/// let data = AdvertisingData([0x02, 0x01, 0x06, 0x05, 0x09, 0x50, 0x75, 0x6c, 0x73])
/// data.flags                       // [.leGeneralDiscoverable, .brEDRNotSupported]
/// data.localName?.text             // "Puls"
/// for structure in data.structures { print(structure.type, data.bytes[structure.content]) }
/// data.problem                     // nil
/// ```
public struct AdvertisingData: Hashable, Sendable {
    /// The payload, all of it.
    public var bytes: [UInt8]

    /// Takes a payload, however malformed.
    public init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// A payload, however malformed, copied.
    package init(copying bytes: Span<UInt8>) { self.bytes = [UInt8](copying: bytes) }

    /// The AD structures up to the end, to an early termination, or to what is not one. Walking them
    /// allocates nothing.
    public var structures: some Sequence<AdvertisingStructure> & Sendable { Structures(bytes: bytes) }

    /// Why the bytes after the last structure are not one, when there are such: a length that reaches past
    /// the end (its offset is that of the length octet), or octets after an early termination that are not
    /// zero. The structures before it are good all the same.
    package var problem: DecodeError? { walked.problem }

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

        /// A walk along the structures.
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
