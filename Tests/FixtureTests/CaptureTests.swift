import ATT
import BLECore
import Foundation
import HCI
import Recordings
import Testing

/// Recordings of real phones and devices, beside the package; the tests are skipped where they are not.
private enum Capture: String, CaseIterable {
    case treadmill = "horizon74at_ftms"
    case robot = "pongbot"
    case startUp = "btsnoop-extcap"

    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared/captures").standardizedFileURL
    static var areThere: Bool { FileManager.default.fileExists(atPath: directory.path) }

    var bytes: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: Self.directory.appending(path: rawValue + ".btsnoop"))) }
    }

    /// Every record, explained.
    var packets: [DecodedPacket] {
        get throws {
            var dissector = Dissector()
            return try items(try bytes).compactMap { item in
                guard case .record(let record) = item else { return nil }
                return dissector.dissect(record)
            }
        }
    }
}

@Suite(.enabled(if: Capture.areThere))
struct CaptureTests {
    @Test(arguments: Capture.allCases, [1000, 65_536])
    private func everyRecordReadsAndIsWrittenAsItWas(capture: Capture, size: Int) throws {
        let bytes = try capture.bytes
        let records = try items(bytes, chunks: size).map { item -> Record in
            guard case .record(let record) = item else { throw CancellationError() }
            return record
        }
        #expect(file(records) == bytes)
    }

    @Test(arguments: Capture.allCases)
    private func everyPacketDecodesAndEncodesAsItWas(capture: Capture) throws {
        for packet in try capture.packets {
            for layer in packet.layers {
                #expect(layer.problem == nil, "\(layer.name) \(layer.bytes.hex)")
                #expect(layer.message?.encoded == layer.bytes, "\(layer.name)")
            }
        }
    }

    /// What commands return is octets inside an event, so it is looked at by itself.
    @Test(arguments: Capture.allCases)
    private func everyReturnedValueEncodesAsItWas(capture: Capture) throws {
        var returned = 0
        for packet in try capture.packets {
            guard case .event(let event)? = packet.outer.message as? HCIPacket,
                case .commandComplete(let complete) = try HCIEvent(event),
                let parameters = try complete.returned()
            else { continue }
            returned += 1
            #expect(parameters.encoded == [UInt8](complete.returnParameters.dropFirst()))
        }
        #expect(returned > 20)
    }

    @Test func theTreadmillIsAsItsReadmeSays() throws {
        let packets = try Capture.treadmill.packets
        #expect(packets.count == 2572)
        let reports = packets.map(\.top).filter { $0.name == "LE Advertising Report" }
        #expect(reports.count == 412)
        let advertisers = Set(
            reports.compactMap { layer -> FieldValue? in
                guard case .list(let reports)? = layer.fields["reports"],
                    case .fields(let report)? = reports.first
                else { return nil }
                return report["address"]
            })
        #expect(advertisers.count == 36)
        let names = Self.attNames(packets)
        #expect(names.values.reduce(0, +) == 1659)
        #expect(names["Write Request"] == 261)
        #expect(names["Handle Value Notification"] == 1047)
        #expect(packets.filter { $0.connection != nil }.allSatisfy { $0.peer != nil })
    }

    @Test func theRobotIsAsItsReadmeSays() throws {
        let packets = try Capture.robot.packets
        #expect(packets.count == 1741)
        // The README counts ATT PDUs together with the ten packets of LE signalling.
        #expect(packets.compactMap(\.inner.last).count == 397)
        let names = Self.attNames(packets)
        #expect(names.values.reduce(0, +) == 387)
        for name in [
            "Exchange MTU Request", "Find By Type Value Response", "Prepare Write Response",
            "Execute Write Response", "Handle Value Indication", "Handle Value Confirmation",
        ] {
            #expect(names[name, default: 0] > 0, "\(name)")
        }
        #expect(packets.contains { $0.top.name == "Connection Parameter Update Request" })
        // Some frames came in more than one fragment.
        #expect(packets.filter { $0.connection != nil && $0.inner.isEmpty }.count == 5)
    }

    @Test func theStartUpIsAsItsReadmeSays() throws {
        let packets = try Capture.startUp.packets
        #expect(packets.count == 222)
        #expect(packets.first?.top.name == "Reset")
        #expect(packets.map(\.top).filter { $0.name == "LE Extended Advertising Report" }.count == 12)
        let commands = packets.filter { $0.direction == .hostToController }.count
        #expect(commands == 105)
        #expect(packets.map(\.top).filter { $0.name == "Command Complete" }.count == commands)
    }

    private static func attNames(_ packets: [DecodedPacket]) -> [String: Int] {
        packets.map(\.top).filter { $0.layer == .att }.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    }
}
