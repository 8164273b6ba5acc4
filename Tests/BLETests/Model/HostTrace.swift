import BLECore
import HCI

/// What happened in a run of the model: the packets between each host and its controller, and what the users saw, with
/// virtual times. Two runs of the same steps have the same trace.
///
/// The digest keeps the order within each lane, not that between lanes: a command that is sent before or after one of
/// another procedure at the same time leaves it as it is.
final class HostTrace: @unchecked Sendable {
    // Sendable: accessed only on the loop.

    /// What is in order: what the users of a host see, its commands and events for one procedure, and the data of one link.
    private var lanes: [String: Hash] = [:]
    /// All lines; nil unless they are to be written to a file.
    private(set) var lines: [String]?

    init(keepsLines: Bool) { lines = keepsLines ? [] : nil }

    /// Adds what the users of a host see.
    func note(_ text: String, of host: String, at now: Instant) {
        lanes["\(host) users", default: Hash()].add(Array(text.utf8), at: now)
        lines?.append("\(now.nanoseconds / 1000) \(host): \(text)")
    }

    /// Adds a packet between the host and its controller.
    func note(_ direction: HCIDirection, _ packet: Span<UInt8>, of host: String, at now: Instant) {
        let octets = (0..<packet.count).map { packet[$0] }
        let arrow = direction == .hostToController ? "<" : ">"
        lanes["\(host) \(arrow) \(Self.lane(of: octets))", default: Hash()].add(octets, at: now)
        lines?.append("\(now.nanoseconds / 1000) \(host) \(arrow) \(octets.hex)")
    }

    /// The digest of all lanes, 16 hex digits.
    var digest: String {
        var all = Hash()
        for (lane, hash) in lanes.sorted(by: { $0.key < $1.key }) {
            all.add(Array(lane.utf8), at: Instant(nanoseconds: hash.value))
        }
        return all.value.hex
    }

    /// FNV-1a with 64 bits.
    private struct Hash {
        private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

        mutating func add(_ octets: [UInt8], at time: Instant) {
            for octet in octets { add(UInt64(octet)) }
            add(UInt64(octets.count))
            add(time.nanoseconds)
        }

        private mutating func add(_ number: UInt64) { value = (value ^ number) &* 0x100_0000_01b3 }
    }

    private static func lane(of packet: [UInt8]) -> String {
        func word(_ index: Int) -> Int {
            index + 1 < packet.count ? Int(packet[index]) | Int(packet[index + 1]) << 8 : 0
        }
        switch (packet.first, packet.count > 1 ? packet[1] : 0) {
        case (1, _): return "commands of \(family(of: word(1)))"
        case (2, _): return "data of \(word(1) & 0xfff)"
        case (4, 0x0e): return "answers to \(family(of: word(4)))"
        case (4, 0x0f): return "answers to \(family(of: word(5)))"
        case (4, 0x13): return "completed packets"
        case (4, 0x3e): return "events \(packet.count > 3 ? packet[3] : 0)"
        default: return "events"
        }
    }

    /// The procedure that a command with this opcode is for.
    private static func family(of opcode: Int) -> String {
        guard opcode >> 10 == 0x08 else { return opcode >> 10 == 0x01 ? "links" : "the controller" }
        switch opcode & 0x3ff {
        case 0x06...0x0a, 0x35...0x3d: return "advertising"
        case 0x0b, 0x0c, 0x41, 0x42: return "scans"
        case 0x0d, 0x0e, 0x43: return "connecting"
        case 0x0f...0x12: return "the accept list"
        case 0x3e...0x40: return "trains"
        case 0x44...0x4a: return "synchronization"
        case 0x05, 0x27...0x2e, 0x4e: return "privacy"
        case 0x13...0x1c, 0x20...0x22, 0x30...0x32: return "links"
        default: return "the controller"
        }
    }
}
