import BLECore
import GATTClient

/// For any division of the octets into parts, no message exceeds the limit, and the messages and the pending
/// octets together are no more than the received octets. The input is a rule, then parts, each after an octet
/// that has its length.
public func fuzzValueReassembler(_ bytes: Span<UInt8>) {
    guard bytes.count >= 2 else { return }
    let number = Int(bytes[1])
    let rule: ValueReassembler.Rule =
        switch bytes[0] % 5 {
        case 0: .length(number)
        case 1: .prefixedLength(octets: number & 0x0f, .littleEndian)
        case 2: .prefixedLength(octets: number & 0x0f, .bigEndian)
        case 3: .delimiter([UInt8](repeating: 0, count: number & 3))
        default: .silence(.nanoseconds(number))
        }
    var reassembler = ValueReassembler(rule, limit: 64)
    var reader = ByteReader(bytes.extracting(droppingFirst: 2), of: "fuzz input")
    var (received, given, now) = (0, 0, Instant.zero)
    while let count = try? reader.u8("length"), let part = try? reader.bytes(Int(count), "part") {
        now = now + .nanoseconds(Int(count))
        received += part.count
        reassembler.receive(part, at: now)
        do throws(ValueTooLong) {
            while let message = try reassembler.next() {
                precondition(message.count <= 64)
                given += message.count
            }
            // The pending octets are bounded: a length, a message and the beginning of a delimiter.
            precondition(reassembler.pending <= 8 + 64 + 3)
        } catch {
            precondition(error.octets > 64)
        }
        precondition(given + reassembler.pending <= received)
    }
}
