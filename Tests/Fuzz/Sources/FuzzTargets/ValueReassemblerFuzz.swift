import BLECore
import GATTClient

/// However the octets are cut into parts, no message is over the limit, no octet is in two messages, and those
/// that are waited for are no more than were received. The input is a rule, then parts, each after an octet
/// with its length.
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
            // What cannot become a message does not pile up: a number, a message, the start of a delimiter.
            precondition(reassembler.pending <= 8 + 64 + 3)
        } catch {
            precondition(error.octets > 64)
        }
        precondition(given + reassembler.pending <= received)
    }
}
