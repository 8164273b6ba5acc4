import BLECore
import Glibc
import HCI
import Testing

/// Recordings of real controllers, where they lie beside the project.
@Suite(.enabled(if: Recording.exist, "no recordings here")) struct CaptureTests {
    @Test(arguments: Recording.all) func everyPacketSurvives(_ recording: Recording) throws {
        let packets = try recording.packets()
        #expect(!packets.isEmpty)
        for (index, bytes) in packets.enumerated() {
            let packet = try HCIPacket(bytes)
            try #require(packet.encoded == bytes, "packet \(index)")
            guard case .event(let raw) = packet else { continue }
            let event = try HCIEvent(raw)
            try #require(event.packet == raw, "packet \(index)")
            try #require(event.encoded == Array(bytes.dropFirst()), "packet \(index)")
        }
    }
}

/// A btsnoop file of UART packets (datalink 1002).
struct Recording: Sendable, CustomTestStringConvertible {
    let testDescription: String

    static let all = ["horizon74at_ftms", "pongbot", "btsnoop-extcap"].map(Recording.init)
    static var exist: Bool { all.allSatisfy { access($0.path, R_OK) == 0 } }

    private var path: String {
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(package)/../shared/captures/\(testDescription).btsnoop"
    }

    /// Header of 16 octets, then records: original length, included length, flags, drops, time of 8.
    func packets() throws -> [[UInt8]] {
        let bytes = try contents()
        var packets: [[UInt8]] = []
        var offset = 16
        while offset + 24 <= bytes.count {
            let length = bytes[(offset + 4)..<(offset + 8)].reduce(0) { $0 << 8 | Int($1) }
            packets.append(Array(bytes[(offset + 24)..<(offset + 24 + length)]))
            offset += 24 + length
        }
        #expect(offset == bytes.count)
        return packets
    }

    private func contents() throws -> [UInt8] {
        let file = try #require(fopen(path, "rb"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
