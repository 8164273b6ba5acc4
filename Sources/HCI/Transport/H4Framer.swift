import BLECore

/// Cuts a byte stream into HCI packets: each is a type octet and a packet whose header says how long it is
/// (Core Specification 5.4, Vol 4, Part A, 2).
///
/// ```swift
/// try framer.feed(chunk) { packet in receive(packet) }
/// ```
/// Packets that lie whole in a chunk are handed over in place; only what a chunk leaves unfinished is
/// copied. There is no mark between packets, so after one wrong octet nothing that follows can be trusted:
/// the framer stays `lost` until `reset()`. A socket is best closed then. A UART can be found again: the
/// host sends Reset until the stream contains the octets of its Command Complete event,
/// `04 0e 04 nn 03 0c 00`, and frames from behind them on (Vol 4, Part A, 4 leaves the method open).
package struct H4Framer: Sendable {
    /// The packet types that the framer accepts.
    package let types: Set<HCIPacketType>
    /// The most octets of a packet, its type octet included.
    package let maximumLength: Int
    /// Octets of whole packets so far: where in the stream the next packet begins.
    package private(set) var offset: UInt64 = 0
    /// Why the stream cannot be read any more, if so.
    package private(set) var lost: H4FramingError?

    private var partial: [UInt8] = []

    /// Octets of a packet that has not come whole yet.
    package var pendingCount: Int { partial.count }

    /// A framer at the start of a stream.
    /// - Parameters:
    ///   - types: those that may occur; a controller sends no commands and a host no events.
    ///   - maximumLength: a longer packet is an error; the default takes all that the formats can say.
    package init(types: Set<HCIPacketType> = HCIPacketType.all, maximumLength: Int = 5 + 0xffff) {
        self.types = types
        self.maximumLength = maximumLength
    }

    /// Takes the stream's next octets, any number of them, and calls `take` with each packet that is whole
    /// now: the type octet and the packet, valid during the call.
    ///
    /// - Throws: when the stream is lost; packets before the wrong octet have been taken.
    package mutating func feed(_ chunk: Span<UInt8>, _ take: (Span<UInt8>) -> Void) throws(H4FramingError) {
        if let lost { throw lost }
        do throws(H4FramingError) {
            var rest = chunk
            while !partial.isEmpty && !rest.isEmpty { try complete(&rest, take) }
            while let length = try packetLength(rest), length <= rest.count {
                take(rest.extracting(0..<length))
                offset += UInt64(length)
                rest = rest.extracting(length..<rest.count)
            }
            if !rest.isEmpty { partial.append(copying: rest) }
        } catch {
            partial = []
            lost = error
            throw error
        }
    }

    /// Begins anew, as at the start of a stream.
    package mutating func reset() {
        self = H4Framer(types: types, maximumLength: maximumLength)
    }

    /// Adds to the unfinished packet what it lacks: an octet while its length is unknown, then the rest.
    private mutating func complete(
        _ rest: inout Span<UInt8>, _ take: (Span<UInt8>) -> Void
    ) throws(H4FramingError) {
        let length = try packetLength(partial.span)
        let count = min(length.map { $0 - partial.count } ?? 1, rest.count)
        partial.append(copying: rest.extracting(0..<count))
        rest = rest.extracting(count..<rest.count)
        guard let length = try packetLength(partial.span), length == partial.count else { return }
        take(partial.span)
        offset += UInt64(length)
        partial.removeAll(keepingCapacity: true)
    }

    /// The length of the packet that `bytes` begin with, or nil while its header is not there.
    private func packetLength(_ bytes: Span<UInt8>) throws(H4FramingError) -> Int? {
        guard !bytes.isEmpty else { return nil }
        let type = HCIPacketType(rawValue: bytes[0])
        guard types.contains(type), let form = type.form else {
            throw .unknownType(type, offset: offset)
        }
        let header = form.lengthOffset + form.lengthWidth
        guard bytes.count >= header else { return nil }
        var payload = Int(bytes[form.lengthOffset])
        if form.lengthWidth == 2 { payload |= Int(bytes[form.lengthOffset + 1]) << 8 }
        payload &= form.lengthMask
        let limit = maximumLength - header
        guard payload <= limit else {
            throw .tooLong(type, payload: payload, limit: limit, offset: offset)
        }
        return header + payload
    }
}

/// Why a byte stream is no sequence of HCI packets.
public enum H4FramingError: Error, Hashable, Sendable {
    /// Where a packet should begin, `offset` octets into the stream, stands an octet that is no type, or
    /// one that this side does not send.
    case unknownType(HCIPacketType, offset: UInt64)
    /// The packet that begins `offset` octets into the stream claims more payload than is possible.
    case tooLong(HCIPacketType, payload: Int, limit: Int, offset: UInt64)
}

extension H4FramingError: CustomStringConvertible {
    /// One line: "0x07 at octet 12 of the stream begins no HCI packet".
    public var description: String {
        switch self {
        case .unknownType(let type, let offset):
            "0x\(type.rawValue.hex) at octet \(offset) of the stream begins no HCI packet"
        case .tooLong(let type, let payload, let limit, let offset):
            "the HCI packet of type 0x\(type.rawValue.hex) at octet \(offset) of the stream claims "
                + "\(payload) octets of payload, more than the limit of \(limit)"
        }
    }
}

extension HCIPacketType {
    /// The five packet types of the H4 transport.
    package static let all: Set<HCIPacketType> = [.command, .acl, .synchronous, .event, .iso]
    /// The types that a host sends.
    package static let fromHost = all.subtracting([.event])
    /// The types that a controller sends.
    package static let fromController = all.subtracting([.command])

    /// Where the length stands, counted from the type octet on, how wide it is, and which of its bits count (Core
    /// Specification 5.4, Vol 4, Part E, 5.4). Reserved ones are ignored.
    fileprivate var form: (lengthOffset: Int, lengthWidth: Int, lengthMask: Int)? {
        switch self {
        case .command: (3, 1, 0xff)
        case .acl: (3, 2, 0xffff)
        case .synchronous: (3, 1, 0xff)
        case .event: (2, 1, 0xff)
        case .iso: (3, 2, 0x3fff)
        default: nil
        }
    }
}

extension [UInt8] {
    /// Adds the octets of a span.
    mutating func append(copying span: Span<UInt8>) {
        append(addingCapacity: span.count) { $0.bytes(span) }
    }
}

/// Finds the packets of a byte stream again after they were lost: in whatever comes, it looks for the octets
/// of the Command Complete event that answers Reset, `04 0e 04 nn 03 0c 00`. Behind them a packet begins.
///
/// Data that happens to contain them cannot come then: a controller that was reset has no links.
package struct H4Recovery: Sendable {
    private static let length = 7
    private var latest: [UInt8] = []

    /// A search at any place of a stream.
    package init() {}

    /// Adds the stream's next octets. Returns how many of them there are up to the end of the answer, or nil when
    /// its end is not among them.
    package mutating func feed(_ chunk: Span<UInt8>) -> Int? {
        for index in 0..<chunk.count {
            if latest.count == Self.length { latest.removeFirst() }
            latest.append(chunk[index])
            if isAnswer {
                latest.removeAll()
                return index + 1
            }
        }
        return nil
    }

    private var isAnswer: Bool {
        // The octet that may be anything says how many commands the controller takes.
        latest.count == Self.length && latest.prefix(3) == [4, 0x0e, 4] && latest.suffix(3) == [3, 0x0c, 0]
    }
}
