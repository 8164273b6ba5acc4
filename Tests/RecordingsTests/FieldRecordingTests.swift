import BLECore
import HCI
import Recordings
import TestSupport
import Testing

private func record(_ hex: String, missing: Int = 0) -> Record {
    Record(
        time: RecordingTime(microseconds: 0), content: .packet(.controllerToHost, octets(hex)),
        missing: missing)
}

/// What recordings of phones and of other people contain beside the packets of LE.
struct FieldRecordingTests {
    @Test("the log and the diagnostics of a vendor are packets of the vendor")
    func vendorPackets() {
        var dissector = Dissector()
        let log = dissector.dissect(
            record("02dc2e18001400050015000000010037ae4b46080043b04b860e046723"))
        #expect(log.layers.map(\.name) == ["Vendor Log"] && log.connection == nil)
        #expect(
            log.outer.problem == nil
                && log.outer.fields["data"]
                    == .text(octets("1400050015000000010037ae4b46080043b04b860e046723").hex)
        )
        let diagnostics = dissector.dissect(record("07 010203"))
        #expect(diagnostics.layers.map(\.name) == ["Vendor Diagnostics"])
        #expect(diagnostics.outer.problem == nil)
        // A connection can have that handle.
        _ = dissector.dissect(record("04 3e13 01 00 dc0e 01 01 0605040302c1 1800 0000 4800 00"))
        let data = dissector.dissect(record("02 dc2e 0700 0300 0400 0a0300"))
        #expect(data.layers.last?.name == "Read Request" && data.peer != nil)
    }

    @Test("a packet that was cut when it was recorded is decoded as far as it goes")
    func cutPackets() throws {
        var dissector = Dissector()
        let cut = dissector.dissect(
            record("02 4020 4300 3f00 0400 1b 0c00 0001020304050607", missing: 52))
        #expect(cut.top.name == "Handle Value Notification" && cut.missing == 52)
        #expect(cut.top.fields["handle"] == .number(12))
        #expect(cut.top.fields["value"] == .text("0001020304050607"))
        #expect(cut.layers.allSatisfy { $0.problem == nil })
        #expect(cut.connection == ConnectionHandle(0x0040))
        // The rest of the frame is dropped, and the next frame is decoded.
        let rest = dissector.dissect(record("02 4010 0300 010203"))
        #expect(rest.layers.count == 1 && rest.outer.problem == nil)
        let next = dissector.dissect(record("02 4020 0700 0300 0400 0a0300"))
        #expect(next.top.name == "Read Request")
        for (hex, name) in [
            ("04 3e2b 0201", "LE Advertising Report"), ("01 0820", "HCI Command"),
            ("01 0820 20 0c", "LE Set Advertising Data"), ("02 40", "ACL Data"), ("", "no packet"),
        ] {
            let packet = dissector.dissect(record(hex, missing: 9))
            #expect(packet.top.name == name && packet.outer.problem == nil, "\(packet.top.name)")
        }
    }

    @Test("a cut request reports no types of attributes, and takes the place of the request before")
    func cutRequests() {
        var dissector = Dissector()
        func sent(_ pdu: String, missing: Int = 0) -> DecodedPacket {
            let count = UInt8(octets(pdu).count)
            let frame = (count + UInt8(missing)).hex + "00 0400" + pdu
            return dissector.dissect(
                Record(
                    time: RecordingTime(microseconds: 0),
                    content: .packet(.hostToController, octets("02 4000" + (count + 4).hex + "00" + frame)),
                    missing: missing))
        }
        func received(_ pdu: String) -> DecodedPacket {
            let count = UInt8(octets(pdu).count)
            return dissector.dissect(record("02 4020" + (count + 4).hex + "00" + count.hex + "00 0400" + pdu))
        }
        _ = sent("0a 0500")
        let request = sent("08 0100 ffff 9eca", missing: 14)
        #expect(request.top.name == "Read By Type Request" && request.top.problem == nil)
        #expect(
            request.top.fields.all.map(\.name) == ["data"]
                && request.top.fields["data"] == .text("0100ffff9eca"))
        let answer = received("09 04 0300 aabb")
        #expect(answer.request?.frame == 2 && answer.request?.name == "Read By Type Request")
        #expect(sent("0a 0300").attribute == DecodedAttribute(handle: 3))
        #expect(received("0b 01").request?.frame == 4)
        let signed = sent("d2 0300 0102", missing: 12)
        #expect(signed.top.fields.all.map(\.name) == ["data"])
    }

    @Test("a cut continuation has the direction of the frame that has begun")
    func cutContinuation() {
        var dissector = Dissector()
        func dissect(_ direction: HCIDirection, _ hex: String, missing: Int = 0) -> DecodedPacket {
            dissector.dissect(
                Record(
                    time: RecordingTime(microseconds: 0), content: .packet(direction, octets(hex)),
                    missing: missing, isDirectionGuessed: missing > 0))
        }
        _ = dissect(.hostToController, "02 4000 0600 0700 0400 1203")
        #expect(dissect(.controllerToHost, "02 4010 0500 0001", missing: 3).direction == .hostToController)
        #expect(dissect(.hostToController, "02 4000 0700 0300 0400 0a0300").top.problem == nil)
    }

    @Test("data that begin in an earlier packet are not decoded")
    func continuedAdvertisingData() {
        func layer(_ hex: String) -> DecodedLayer { DecodedLayer.hci(octets(hex)).layer }
        #expect(layer("01 3720 07 00 01 01 03 020a06").fields["advertising"] != nil)
        #expect(layer("01 3720 07 00 03 01 03 020a06").fields["advertising"] != nil)
        #expect(layer("01 3720 07 00 02 01 03 020a06").fields["advertising"] == nil)
        #expect(layer("01 3720 07 00 00 01 03 020a06").fields["advertising"] == nil)

        var dissector = Dissector()
        func report(_ type: String, _ data: String, sid: String = "01") -> [String] {
            let count = UInt8(octets(data).count)
            let packet = dissector.dissect(
                record(
                    "04 3e" + (count + 26).hex + "0d 01" + type + "01 0605040302c1 01 01" + sid
                        + "7f d0 0000 00 000000000000" + count.hex + data))
            guard packet.outer.problem == nil, case .list(let reports)? = packet.top.fields["reports"],
                case .fields(let fields)? = reports.first
            else { return [packet.outer.problem ?? "no report"] }
            guard case .fields(let data)? = fields["advertising"] else { return [] }
            return data.all.map(\.name)
        }
        #expect(report("2000", "02010606ff4c00") == ["flags"])
        #expect(report("0000", "020a06") == [])
        #expect(report("0000", "020a06") == ["txPower"])
        #expect(report("2000", "020a06") == ["txPower"])
        #expect(report("0000", "020a06", sid: "02") == ["txPower"])
    }

    @Test("any octets of a cut packet are decoded without a trap")
    func anyCutPackets() {
        var (dissector, random) = (Dissector(), SplitMix64(seed: 7))
        for count in 0..<3000 {
            var octets = (0..<count % 400).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if !octets.isEmpty { octets[0] = UInt8(count % 7) }
            let packet = dissector.dissect(
                Record(
                    time: RecordingTime(microseconds: 0), content: .packet(.hostToController, octets),
                    missing: 1))
            for layer in packet.layers { _ = layer.fields }
        }
    }

    @Test("advertising data are checked and shown whole, also those of this host")
    func advertisingData() {
        func layer(_ hex: String) -> DecodedLayer { DecodedLayer.hci(octets(hex)).layer }
        func report(_ data: String) -> DecodedLayer {
            let count = UInt8(octets(data).count)
            return layer("04 3e" + (count + 12).hex + "0201 00 01 0605040302c1" + count.hex + data + "c8")
        }
        let broken = report("20028534" + String(repeating: "00", count: 21))
        #expect(broken.name == "LE Advertising Report" && broken.problem != nil)
        let unknown = report("020106" + "05120600" + "0c00")
        #expect(unknown.problem == nil)
        guard case .list(let reports)? = unknown.fields["reports"], case .fields(let first)? = reports.first,
            case .fields(let data)? = first["advertising"], case .list(let others)? = data["other"],
            case .fields(let other)? = others.first
        else {
            Issue.record("\(unknown.fields)")
            return
        }
        #expect(data["flags"] == .number(6) && others.count == 1)
        #expect(other["type"] == .number(0x12) && other["data"] == .text("06000c00"))

        let own = layer("01 0820 20 0c 02010008094254737461636b" + String(repeating: "00", count: 19))
        guard case .fields(let advertised)? = own.fields["advertising"] else {
            Issue.record("\(own.fields)")
            return
        }
        #expect(advertised["name"] == .text("BTstack") && own.problem == nil)
        #expect(layer("01 0820 20 02 0501" + String(repeating: "00", count: 29)).problem != nil)
        // A fragment of data can end within a structure.
        #expect(layer("01 3720 06 00 01 01 02 0501").problem == nil)
        #expect(layer("01 3720 06 00 03 01 02 0501").problem != nil)
    }

    @Test("connections of BR/EDR have a peer, and their frames have octets")
    func classicConnections() {
        var dissector = Dissector()
        let asked = dissector.dissect(record("04 040a 66db726b1800 04041f 01"))
        #expect(asked.outer.fields["deviceClass"] == .text("0x1f0404"))
        let complete = dissector.dissect(record("04030b000c0066db726b18000100"))
        #expect(complete.outer.fields["peer"] == .text("00:18:6B:72:DB:66/public"))
        #expect(complete.connection == ConnectionHandle(12) && complete.isClassic)
        let frame = dissector.dissect(record("02 0c20 0600 0200 4100 aabb"))
        #expect(frame.peer == DeviceAddress(0x0018_6b72_db66, type: .public) && frame.isClassic)
        #expect(frame.top.fields["data"] == .text("aabb"))
        #expect(dissector.dissect(record("04 0504 000c0013")).connection == ConnectionHandle(12))
        let failed = dissector.dissect(record("04030b040d0066db726b18000100"))
        #expect(failed.failure == "Connection Complete: Page Timeout (0x04)" && failed.connection == nil)
    }

    @Test("a connection of BR/EDR begins a new entry of the statistics")
    func classicStatistics() {
        var (dissector, statistics) = (Dissector(), RecordingStatistics())
        for hex in [
            "04 3e13 01 00 0c00 01 01 0605040302c1 1800 0000 4800 00", "02 0c20 0700 0300 0400 0a0300",
            "04030b000c0066db726b18000100", "02 0c20 0600 0200 4100 aabb",
        ] {
            statistics.add(dissector.dissect(record(hex)))
        }
        #expect(statistics.connections.map(\.isClassic) == [false, true])
        #expect(statistics.connections.map(\.received.packets) == [1, 1])
        #expect(statistics.connections.last?.peer == DeviceAddress(0x0018_6b72_db66, type: .public))
    }

    @Test("the end of a discovery and a cancelled attempt to connect are no failures")
    func expectedEndsAreNoFailures() {
        var dissector = Dissector()
        for (pdu, failure) in [
            ("01 10 0500 0a", nil), ("01 04 0500 0a", nil), ("01 08 0500 0a", nil), ("01 06 0500 0a", nil),
            ("01 0a 0500 0a", "Read Request: Attribute Not Found (0x0a)"),
            ("01 10 0500 05", "Read By Group Type Request: Insufficient Authentication (0x05)"),
        ] as [(String, String?)] {
            let packet = dissector.dissect(record("02 4020 0900 0500 0400" + pdu))
            #expect(packet.failure == failure)
        }
        let cancelled = dissector.dissect(record("04 3e13 01 02 0000 00 00 000000000000 0000 0000 0000 00"))
        #expect(cancelled.failure == nil)
        let failed = dissector.dissect(record("04 3e13 01 3e 0000 00 00 000000000000 0000 0000 0000 00"))
        #expect(failed.failure != nil)
    }
}
