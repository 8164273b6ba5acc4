import BLECore
import HCI
import Testing

/// Any bytes either decode to a packet that encodes to the same bytes, or fail to decode.
@Suite struct HCIRandomTests {
    /// Returns whether the bytes are the same, except for the reserved bits above a connection handle.
    static func same(_ encoded: [UInt8], _ bytes: [UInt8]) -> Bool {
        encoded.count == bytes.count
            && zip(encoded, bytes).allSatisfy { $0 == $1 || $0 == $1 & 0x0f }
    }

    @Test func randomEventsRoundTrip() {
        var random = SplitMix64(seed: 1)
        var decoded = 0
        let codes: [UInt8] = [
            0x05, 0x08, 0x0c, 0x0e, 0x0f, 0x10, 0x13, 0x1a, 0x30, 0x3e, 0x3e, 0x3e, 0x57, 0x59, 0x77,
        ]
        for _ in 0..<20_000 {
            var parameters = random.bytes(upTo: 40)
            let code = HCIEventCode(rawValue: codes.randomElement(using: &random) ?? 0)
            if code == .leMeta, !parameters.isEmpty {
                parameters[0] = UInt8.random(in: 0...0x24, using: &random)
                if parameters.count > 1 { parameters[1] &= 0x03 }
            }
            let packet = HCIEventPacket(code: code, parameters: parameters)
            guard let event = try? HCIEvent(packet) else { continue }
            decoded += 1
            #expect(Self.same(event.packet.parameters, parameters), "\(packet.encoded.hex)")
            #expect((try? HCIEvent(event.packet)) == event, "\(packet.encoded.hex)")
        }
        #expect(decoded > 2000)
    }

    @Test func randomCommandsRoundTrip() {
        var random = SplitMix64(seed: 2)
        var decoded = 0
        for _ in 0..<20_000 {
            let opcode = HCIOpcode(ogf: 8, ocf: UInt16.random(in: 0...0x86, using: &random))
            let packet = HCICommandPacket(opcode: opcode, parameters: random.bytes(upTo: 33))
            guard let command = try? packet.decoded() else { continue }
            decoded += 1
            #expect(Self.same(command.encoded, packet.parameters), "\(packet.encoded.hex)")
        }
        #expect(decoded > 200)
    }

    @Test func randomPacketsRoundTrip() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<20_000 {
            let bytes = [UInt8.random(in: 0...6, using: &random)] + random.bytes(upTo: 12)
            guard let packet = try? HCIPacket(bytes) else { continue }
            #expect(packet.encoded == bytes)
        }
    }

    @Test func randomReportsMatchEventDecoding() {
        var random = SplitMix64(seed: 4)
        var reported = 0
        for _ in 0..<20_000 {
            let subevent: UInt8 = [0x02, 0x0b, 0x0d].randomElement(using: &random) ?? 0x02
            let parameters: [UInt8] = [subevent, 1] + random.bytes(upTo: 40)
            var reports = 0
            let whole = (try? AdvertisingReport.forEach(in: parameters.span) { _ in reports += 1 }) != nil
            reported += reports
            #expect(reports <= 1)
            // The visitor and the event agree on what is well-formed.
            let packet = HCIEventPacket(code: .leMeta, parameters: parameters)
            #expect(((try? HCIEvent(packet)) != nil) == whole, "\(packet.encoded.hex)")
        }
        #expect(reported > 100)
    }
}
