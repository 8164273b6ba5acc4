import BLECore

/// Splits a byte stream into HCI packets: each is a type octet and a packet whose header contains its length
/// (Core Specification 5.4, Vol 4, Part A, 2).
///
/// ```swift
/// try framer.feed(chunk) { packet in receive(packet) }
/// ```
/// Packets that are complete in a chunk are delivered in place; only an incomplete packet at the end of a
/// chunk is copied. There is no delimiter between packets, so after one wrong octet the rest of the stream
/// cannot be interpreted: the framer stays `lost` until `reset()`. A socket should then be closed. A UART can
/// be synchronized again: the host sends Reset until the stream contains the octets of its Command Complete
/// event, `04 0e 04 nn 03 0c 00`, and continues after them (Vol 4, Part A, 4 does not specify the method).
package struct H4Framer: Sendable {
    /// The packet types that the framer accepts.
    package let types: Set<HCIPacketType>
    /// The maximum size of a packet in octets, including its type octet.
    package let maximumLength: Int
    /// The number of octets of complete packets so far: the offset of the next packet in the stream.
    package private(set) var offset: UInt64 = 0
    /// The reason why the stream cannot be read any more; nil if it can.
    package private(set) var lost: H4FramingError?

    private var partial: [UInt8] = []

    /// The number of octets of the incomplete packet.
    package var pendingCount: Int { partial.count }

    /// Creates a framer at the start of a stream.
    /// - Parameters:
    ///   - types: the types that can occur; a controller sends no commands and a host no events.
    ///   - maximumLength: a longer packet is an error; the default allows the maximum of the formats.
    package init(types: Set<HCIPacketType> = HCIPacketType.all, maximumLength: Int = 5 + 0xffff) {
        self.types = types
        self.maximumLength = maximumLength
    }

    /// Adds octets of the stream, any number of them, and calls `take` with each packet that is now complete:
    /// the type octet and the packet, valid during the call.
    ///
    /// - Throws: if the stream is lost, after `take` has been called with the packets before the wrong octet.
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

    /// Resets the framer to its state at the start of a stream.
    package mutating func reset() {
        self = H4Framer(types: types, maximumLength: maximumLength)
    }

    /// Adds octets to the incomplete packet: one at a time until its length is known, then the rest.
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

    /// Returns the length of the packet at the start of `bytes`, or nil if its header is incomplete.
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

/// The reason why a byte stream is not a sequence of HCI packets.
public enum H4FramingError: Error, Hashable, Sendable {
    /// The octet at `offset` in the stream, where a packet should begin, is not a packet type or is one that
    /// this side does not send.
    case unknownType(HCIPacketType, offset: UInt64)
    /// The packet at `offset` in the stream states a longer payload than the limit.
    case tooLong(HCIPacketType, payload: Int, limit: Int, offset: UInt64)
}

extension H4FramingError: CustomStringConvertible {
    /// The error as one line of text: "0x07 at octet 12 of the stream begins no HCI packet".
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

    /// The offset of the length field from the type octet, its width, and the mask of its bits (Core
    /// Specification 5.4, Vol 4, Part E, 5.4). Reserved bits are ignored.
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
    /// Appends the octets of a span.
    mutating func append(copying span: Span<UInt8>) {
        append(addingCapacity: span.count) { $0.bytes(span) }
    }
}

/// Finds a packet boundary in a byte stream after synchronization was lost. It searches for the octets of the
/// Command Complete event that answers Reset, `04 0e 04 nn 03 0c 00`, after which a packet begins.
///
/// Data that happens to contain these octets cannot occur, because a controller that was reset has no links.
package struct H4Recovery: Sendable {
    private static let length = 7
    private var latest: [UInt8] = []

    /// Starts a search at any position in a stream.
    package init() {}

    /// Adds octets of the stream. Returns the number of octets up to the end of the answer, or nil if its end
    /// is not among them.
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
        // The octet that can have any value is the number of commands that the controller accepts.
        latest.count == Self.length && latest.prefix(3) == [4, 0x0e, 4] && latest.suffix(3) == [3, 0x0c, 0]
    }
}
