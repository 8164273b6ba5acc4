import BLECore
import Glibc
import HCI
import Testing

/// Recordings of real controllers, if they are in a folder beside the project.
@Suite(.enabled(if: Recording.exist, "no recordings here")) struct CaptureTests {
    @Test(arguments: Recording.all) func recordedPacketsRoundTrip(_ recording: Recording) throws {
        let packets = try recording.packets()
        #expect(!packets.isEmpty)
        for (index, bytes) in packets.enumerated() {
            let packet = try HCIPacket(bytes)
            try #require(packet.encoded == bytes, "packet \(index)")
            switch packet {
            case .command(let raw):
                let command = try raw.decoded()
                try #require(command == nil || command?.packet == raw, "packet \(index)")
            case .event(let raw):
                let event = try HCIEvent(raw)
                try #require(event.packet == raw, "packet \(index)")
                guard case .commandComplete(let complete) = event else { continue }
                let returned = try complete.returned()
                try #require(
                    returned == nil || returned?.encoded == Array(complete.returnParameters.dropFirst()),
                    "packet \(index)")
            case .acl, .synchronous, .iso: continue
            }
        }
    }

    @Test func recordedAdvertisementsAreDecoded() throws {
        let horizon = try reports(in: "horizon74at_ftms")
        #expect(horizon.count == 412)
        #expect(Set(horizon.compactMap(\.address)).count == 36)
        #expect(horizon.allSatisfy { $0.type.contains(.legacy) && $0.sid == nil && $0.rssi != nil })
        let pongbot = try reports(in: "pongbot")
        #expect(!pongbot.isEmpty)
        #expect(pongbot.contains { !$0.data.isEmpty && $0.secondaryPHY == nil })
    }

    private func reports(in name: String) throws -> [AdvertisingReport] {
        var reports: [AdvertisingReport] = []
        for bytes in try Recording(testDescription: name).packets() {
            guard case .event(let event) = try HCIPacket(bytes), event.code == .leMeta else { continue }
            try AdvertisingReport.forEach(in: event.parameters.span) { reports.append($0) }
        }
        return reports
    }
}

/// A btsnoop file of UART packets (datalink 1002).
struct Recording: Sendable, CustomTestStringConvertible {
    let testDescription: String

    static let all = ["horizon74at_ftms", "pongbot", "btsnoop-extcap"].map(Recording.init(testDescription:))
    static var exist: Bool { all.allSatisfy { access($0.path, R_OK) == 0 } }

    private var path: String {
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(package)/../shared/captures/\(testDescription).btsnoop"
    }

    /// Returns the packets. A file has a header of 16 octets, then records: original length, included length,
    /// flags, drops, and a time of 8 octets.
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
