import BLE
import BLEAdvertising
import BLECore
import GATTClient
import Recordings
import Testing

@testable import bletool

extension JSONValue {
    /// The value of the member `name`, or nil if this is not an object with that member.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

struct EventTests {
    private let address = DeviceAddress(0xc0bb_ccdd_ee01, type: .random)

    private func plan(_ overflow: OverflowPolicy) throws -> AdvertisingPlan {
        var content = AdvertisingContent()
        content.name = "Thermometer in the kitchen"
        content.services = [0x1809]
        return try AdvertisingPlan(content, kind: .connectable, overflow: overflow)
    }

    @Test func packetsEventDescribesPackets() throws {
        let event = PacketsEvent(plan: try plan(.scanResponse))
        #expect(
            event.json.description == """
                {"event":"packets","data":"02010603030918",\
                "scanResponse":"1b09546865726d6f6d6574657220696e20746865206b69746368656e","extended":null,"octets":7,\
                "limit":31,"scanResponseOctets":28,"fields":[{"field":"flags","octets":3,"in":"data"},\
                {"field":"services","octets":4,"in":"data"},{"field":"name","octets":28,"in":"scan-response"}],\
                "overflow":[{"field":"name","action":"scan-response","octets":28}],"periodic":null}
                """)
        let lines = event.lines(colored: false)
        #expect(lines.contains("advertising data, 7 of 31 octets"))
        #expect(lines.contains("scan response, 28 of 31 octets"))
        #expect(lines.last == "name: in the scan response, 28 octets")
        // The octets of the fields are those of the packets.
        let hex = lines.filter { $0.hasPrefix("flags") || $0.hasPrefix("services") || $0.hasPrefix("name  ") }
            .compactMap { $0.split(separator: " ").last }.joined()
        #expect(hex == event.plan.data.hex + event.plan.scanResponse.hex)
    }

    @Test func extendedPacketsEventHasWarning() throws {
        let event = PacketsEvent(plan: try plan(.extended))
        #expect(event.json["data"] == "")
        #expect(event.json["extended"] != .null)
        #expect(event.lines(colored: false).first == "extended advertising data, 35 of 245 octets")
        #expect(event.lines(colored: false).last == PacketsEvent.invisible)
    }

    @Test func packetsEventOfScannableExtendedSetShowsScanResponse() throws {
        var content = AdvertisingContent()
        content.rawScanResponse = [2, 9, 65]
        let plan = try AdvertisingPlan(content, kind: .scannable, extended: true)
        let event = PacketsEvent(plan: plan, isScannable: true)
        #expect(
            event.lines(colored: false).prefix(2) == ["extended scan response, 3 of 1650 octets", "  020941"])
    }

    @Test func readyEventDescribesAdvertising() throws {
        let event = ReadyEvent(
            adapter: "hci0", address: address,
            sets: [.init(AdvertisingRequest(try plan(.shortenName)), power: -7)])
        #expect(
            event.json.description == """
                {"event":"ready","adapter":"hci0","address":"C0:BB:CC:DD:EE:01","addressType":"random","privateAddress":null,\
                "advertising":{"data":"020106030309181708546865726d6f6d6574657220696e20746865206b6974","scanResponse":"","extended":null,\
                "overflow":[{"field":"name","action":"shortened","octets":4}],"power":-7,"periodic":null},"beside":[]}
                """)
        #expect(ReadyEvent(adapter: "hci0", address: address).json["advertising"] == .null)
    }

    @Test("an advertisement without a field but the flags has a note", arguments: [nil, "Lamp"])
    func bareAdvertisementHasNote(name: String?) throws {
        var content = AdvertisingContent()
        content.name = name
        for kind in [AdvertisingKind.connectable, .nonconnectable] {
            let request = AdvertisingRequest(try AdvertisingPlan(content, kind: kind), kind: kind)
            let event = ReadyEvent(adapter: "hci0", address: address, sets: [.init(request, power: nil)])
            let notes = event.lines(colored: false).dropFirst()
            #expect(
                notes == (name == nil ? ["  the packets contain no name, service or other field"] : []))
        }
    }

    @Test func advertisementEventHasAllFields() throws {
        let payload = try #require([UInt8](hex: "0201060303180f04ff4c00020416aafe0103084c1b"))
        let event = AdvertisementEvent(
            address: address, rssi: -50, isConnectable: true, isScannable: true, isScanResponse: false,
            isLegacy: true,
            fields: AdvertisingData(payload), payload: payload, time: Timestamp(milliseconds: 42),
            companyName: { $0 == .apple ? "Apple, Inc." : nil })
        #expect(
            event.json.description == #"""
                {"event":"advertisement","address":"C0:BB:CC:DD:EE:01","addressType":"random","kind":"static",\#
                "identity":null,"rssi":-50,"connectable":true,"scannable":true,"scanResponse":false,"legacy":true,\#
                "primaryPhy":"1m","secondaryPhy":null,"sid":null,"txPower":null,"name":"L\u001b","nameComplete":false,\#
                "services":["0f18"],"solicited":[],\#
                "manufacturer":[{"company":76,"companyName":"Apple, Inc.","data":"02"}],\#
                "serviceData":[{"uuid":"feaa","data":"01"}],"appearance":null,"flags":6,\#
                "data":"0201060303180f04ff4c00020416aafe0103084c1b","time":"1970-01-01T00:00:00.042Z",\#
                "truncated":false,"problem":null,"periodicInterval":null,"uri":null,\#
                "beacon":{"format":"Eddystone","problem":"Eddystone: frame type at octet 0 has the invalid value 0x1"},\#
                "otherBeacons":[]}
                """#)
        let line = try #require(event.lines(colored: false).first)
        #expect(
            line.hasPrefix(
                " -50 dBm  C0:BB:CC:DD:EE:01/random  \"L\\u{1b}\" (shortened)  services 0f18  Apple, Inc.:02")
        )
        #expect(line.hasSuffix("feaa:01 (Eddystone: frame type at octet 0 has the invalid value 0x1)"))
    }

    @Test func anonymousAdvertisementHasNullFields() {
        let event = AdvertisementEvent(
            address: nil, isConnectable: false, isScannable: false, isScanResponse: false, isLegacy: false,
            secondaryPHY: "2m", set: 3, fields: AdvertisingData(), payload: [],
            time: Timestamp(milliseconds: 0),
            companyName: { _ in nil })
        for name in ["address", "addressType", "kind", "rssi", "name", "flags"] {
            #expect(event.json[name] == .null)
        }
        #expect(event.json["sid"] == 3)
        #expect(event.lines(colored: false) == ["   ? dBm  anonymous"])
    }

    @Test("what is malformed in a packet is shown, at its place in this packet")
    func advertisementEventNamesProblems() {
        func event(_ payload: [UInt8], after other: [UInt8] = [], truncated: Bool = false)
            -> AdvertisementEvent
        {
            AdvertisementEvent(
                address: nil, isConnectable: false, isScannable: false, isScanResponse: false,
                isLegacy: false,
                fields: AdvertisingData(other + payload), payload: payload, time: Timestamp(milliseconds: 0),
                isTruncated: truncated, companyName: { _ in nil })
        }
        let field = "Advertising Data: company identifier at octet 5 needs 2 octets, 1 left"
        #expect(event([2, 1, 6, 2, 0xff, 0x4c]).json["problem"] == .string(field))
        #expect(event([2, 1, 6, 2, 0xff, 0x4c]).lines(colored: false)[0].hasSuffix("  malformed: \(field)"))
        let end = "Advertising Data: AD structure at octet 0 needs 8 octets, 1 left"
        #expect(event([8, 9], after: [2, 1, 6]).json["problem"] == .string(end))
        #expect(event([8, 9], truncated: true).json["problem"] == .null)
        #expect(event([2, 1, 6, 0, 0]).json["problem"] == .null)
    }

    @Test func advertisementEventShowsTruncationAndInterval() {
        let event = AdvertisementEvent(
            address: nil, isConnectable: false, isScannable: false, isScanResponse: false, isLegacy: false,
            fields: AdvertisingData(), payload: [], time: Timestamp(milliseconds: 0), isTruncated: true,
            periodicInterval: .microseconds(7500), companyName: { _ in nil })
        #expect(event.json["truncated"] == true)
        #expect(event.json["periodicInterval"] == .number("7.5"))
        #expect(event.lines(colored: false) == ["   ? dBm  anonymous  periodic 7.5ms  truncated"])
    }

    @Test func scanLossEventReportsCounts() {
        #expect(ScanLossEvent(dropped: 0, evicted: 0).isNone)
        let loss = ScanLossEvent(dropped: 2, evicted: 1)
        #expect(loss.json.description == #"{"event":"loss","dropped":2,"evicted":1}"#)
        #expect(
            loss.notes == [
                "scan: 2 advertisements came too fast to be shown",
                "scan: more than 4,096 devices, or 4 MiB of their data; 1 were forgotten and count as new again",
            ])
    }

    @Test func valueLossEventReportsCount() {
        let loss = ValueLossEvent(characteristic: (0x0012, 0x2a19), count: 3)
        #expect(loss.json.description == #"{"event":"loss","handle":18,"uuid":"2a19","dropped":3}"#)
        #expect(loss.lines(colored: false) == ["2a19: 3 values came too fast to be shown"])
    }

    @Test func savedValueEventNamesFile() {
        let saved = SavedValueEvent(handle: 0x0012, uuid: 0x2a19, count: 1, file: "v\n.bin")
        #expect(
            saved.json.description
                == #"{"event":"saved","handle":18,"uuid":"2a19","octets":1,"file":"v\n.bin"}"#)
        #expect(saved.lines(colored: false) == [#"read 1 octet into v\u{a}.bin"#])
    }

    @Test func valueEventsHaveHandlesAndValues() {
        let one = ValueEvent(handles: [0x0012], uuid: 0x2a19, value: [100], format: .hex)
        #expect(one.json.description == #"{"event":"value","handle":18,"uuid":"2a19","value":"64"}"#)
        let many = ValueEvent(handles: [1, 2], uuid: nil, value: [1, 2], format: .hex)
        #expect(many.json.description == #"{"event":"value","handles":[1,2],"value":"0102"}"#)
        let note = NotificationEvent(
            ReceivedValue(handle: 3, value: [1], isIndication: true), uuid: 0x2a1c,
            time: Timestamp(milliseconds: 0), format: .u8)
        #expect(
            note.json.description
                == #"{"event":"indication","handle":3,"uuid":"2a1c","value":1,"time":"1970-01-01T00:00:00.000Z"}"#
        )
        let cut = NotificationEvent(
            ReceivedValue(handle: 3, value: [0x61, 0x62], mayBeTruncated: true, length: 9), uuid: 0xffe1,
            time: Timestamp(milliseconds: 0), format: .hex)
        #expect(
            cut.json.description
                == #"{"event":"notification","handle":3,"uuid":"ffe1","value":"6162","time":"1970-01-01T00:00:00.000Z","length":9}"#
        )
        #expect(cut.lines(colored: false) == ["1970-01-01T00:00:00.000Z  ffe1  6162  2 of 9 octets"])
        #expect(
            WrittenEvent(handle: 3, value: [1, 2]).json.description
                == #"{"event":"written","handle":3,"octets":2,"acknowledged":true}"#)
    }

    @Test("a tree without services is reported as such")
    func emptyTreeReportsNoServices() {
        let event = TreeEvent(address: address, mtu: 23, services: [], name: { _ in nil })
        #expect(event.lines(colored: false) == ["C0:BB:CC:DD:EE:01/random has no services"])
    }

    @Test("member UUIDs name services only, not characteristics or descriptors")
    func memberUUIDsNameOnlyServices() {
        let characteristic = TreeEvent.Characteristic(
            uuid: 0xfff2, handle: 2, valueHandle: 3, properties: ["read"],
            descriptors: [.init(uuid: 0xfff1, handle: 4)])
        let event = TreeEvent(
            address: address, mtu: 23,
            services: [.init(uuid: 0xfff0, handle: 1, endHandle: 4, characteristics: [characteristic])],
            name: { _ in "Member" })
        #expect(
            event.lines(colored: false) == [
                "service fff0 Member  0x0001-0x0004", "  fff2  0x0003  [read]", "    fff1  0x0004",
            ])
        let attribute = DecodedAttribute(handle: 3, uuid: 0xfff2)
        #expect(Names.name(0xfff2) != nil && Names.attribute(0xfff2) == nil)
        #expect(attribute.label == "fff2")
    }

    @Test func treeEventHasServicesAndValues() {
        let event = TreeEvent(
            address: address, mtu: 517,
            services: [
                .init(
                    uuid: 0x180f, handle: 1, endHandle: 5,
                    includes: [.init(uuid: 0x1809, handle: 9, endHandle: 10)],
                    characteristics: [
                        .init(
                            uuid: 0x2a19, handle: 3, valueHandle: 4, properties: ["read", "notify"],
                            value: .read([100]),
                            descriptors: [.init(uuid: 0x2902, handle: 5)])
                    ])
            ], name: { $0 == 0x180f ? "Battery Service" : nil })
        #expect(
            event.json.description == """
                {"event":"tree","address":"C0:BB:CC:DD:EE:01","mtu":517,"services":[{"uuid":"180f","handle":1,"endHandle":5,\
                "primary":true,"includes":[{"uuid":"1809","handle":9,"endHandle":10}],"characteristics":[{"uuid":"2a19",\
                "handle":3,"valueHandle":4,"properties":["read","notify"],"value":"64","descriptors":[{"uuid":"2902",\
                "handle":5,"value":null}]}]}],"faults":[]}
                """)
        #expect(
            event.lines(colored: false) == [
                "service 180f Battery Service  0x0001-0x0005", "  includes 1809 0x0009-0x000a",
                "  2a19  0x0004  [read notify] = 100 %", "    2902  0x0005",
            ])
    }

    @Test(
        arguments: [
            (
                .connected(
                    .init(
                        interval: .microseconds(11_250), latency: 0, timeout: .seconds(4), phy: "1m", mtu: 23)
                ),
                #""connected",C,"interval":11.25,"latency":0,"timeout":4000,"phy":"1m","mtu":23,"dataLength":null"#
            ),
            (
                .parameters(.init()),
                #""parameters",C,"interval":null,"latency":null,"timeout":null,"phy":null,"mtu":null,"dataLength":null"#
            ),
            (
                .disconnected(reason: 0x13, errno: nil, text: "Remote User Terminated Connection"),
                #""disconnected",C,"reason":19,"errno":null,"reasonText":"Remote User Terminated Connection","cause":null"#
            ),
            (
                .pairingFailed(reason: 8, isRefused: true, text: "refused here: Unspecified Reason (0x08)"),
                #""pairingFailed",C,"refused":true,"reason":8,"reasonText":"refused here: Unspecified Reason (0x08)""#
            ),
            (.mtu(517), #""mtu",C,"mtu":517"#),
            (
                .read(.init(handle: 3, uuid: 0x2a19, value: [1])),
                #""read",C,"handle":3,"uuid":"2a19","value":"01""#
            ),
            (
                .write(.init(handle: 3, uuid: 0x2a19, value: []), .prepared),
                #""write",C,"handle":3,"uuid":"2a19","value":"","type":"prepared""#
            ),
            (
                .dropped(.init(handle: 3, uuid: 0x2a19, value: [1]), .command, limit: 65_536),
                #""dropped",C,"handle":3,"uuid":"2a19","value":"01","type":"command","limit":65536"#
            ),
            (
                .dropped(.init(handle: 3, uuid: 0x2a19, value: [1]), .signed, limit: nil),
                #""dropped",C,"handle":3,"uuid":"2a19","value":"01","type":"signed","limit":null"#
            ),
            (
                .undelivered(.init(handle: 3, uuid: 0x2a19, value: [1]), .command),
                #""undelivered",C,"handle":3,"uuid":"2a19","value":"01","type":"command""#
            ),
            (
                .refused(
                    .init(handle: 3, uuid: 0x2a19), request: "Read Request", code: 2,
                    text: "Read Not Permitted (0x02)"),
                #""refused",C,"handle":3,"uuid":"2a19","request":"Read Request","error":2,"#
                    + #""errorText":"Read Not Permitted (0x02)""#
            ),
            (
                .refused(.init(handle: 9), request: "Write Command", code: 1, text: "Invalid Handle (0x01)"),
                #""refused",C,"handle":9,"uuid":null,"request":"Write Command","error":1,"#
                    + #""errorText":"Invalid Handle (0x01)""#
            ),
            (
                .subscribed(.init(handle: 3, uuid: 0x2a19), indications: true),
                #""subscribed",C,"handle":3,"uuid":"2a19","type":"indication""#
            ),
            (.unsubscribed(.init(handle: 3, uuid: 0x2a19)), #""unsubscribed",C,"handle":3,"uuid":"2a19""#),
            (
                .notified(.init(handle: 3, uuid: 0x2a19, value: [1])),
                #""notified",C,"handle":3,"uuid":"2a19","value":"01""#
            ),
            (.confirmed(.init(handle: 3, uuid: 0x2a19)), #""confirmed",C,"handle":3,"uuid":"2a19""#),
            (
                .security(level: "medium", keySize: 16, isBonded: true),
                #""security",C,"level":"medium","keySize":16,"bonded":true"#
            ),
        ] as [(ServerEvent.What, String)])
    func serverEventsHaveJSON(what: ServerEvent.What, json: String) {
        let central = #""central":"C0:BB:CC:DD:EE:01","addressType":"random""#
        let whole = json.split(separator: "C,", maxSplits: 1).joined(separator: central + ",")
        let event = ServerEvent(central: address, what: what, time: Timestamp(milliseconds: 42))
        #expect(
            event.json.description == #"{"event":"# + whole + #","time":"1970-01-01T00:00:00.042Z"}"#)
    }

    @Test(
        arguments: [
            (.disconnected(reason: 0x13, errno: nil, text: "gone (0x13)"), "disconnected  gone (0x13)"),
            (
                .disconnected(reason: 0x16, errno: nil, text: "ended here (0x16)", cause: "no answer"),
                "disconnected  ended here (0x16): no answer"
            ),
            (.pairingFailed(reason: nil, isRefused: false, text: "no packet"), "pairingFailed  no packet"),
            (.mtu(517), "mtu  517 octets"),
            (.read(.init(handle: 3, uuid: 0x2a19, value: [87])), "read  2a19 Battery Level  0x0003 = 87 %"),
            (.read(.init(handle: 3, uuid: 0xaa01, value: [])), "read  aa01  0x0003 = 0 octets"),
            (
                .refused(
                    .init(handle: 3, uuid: 0x2a19), request: "Read Request", code: 2,
                    text: "Read Not Permitted (0x02)"),
                "refused  2a19 Battery Level  0x0003  Read Request: Read Not Permitted (0x02)"
            ),
            (
                .refused(.init(handle: 9), request: "Read Request", code: 1, text: "Invalid Handle (0x01)"),
                "refused  0x0009  Read Request: Invalid Handle (0x01)"
            ),
            (
                .write(.init(handle: 4, uuid: 0xabcd, value: [1]), .command),
                "write  abcd  0x0004 = 01  command"
            ),
            (
                .write(.init(handle: 4, uuid: 0xabcd, value: Array(repeating: 0, count: 65)), .request),
                "write  abcd  0x0004 = 65 octets"
            ),
            (
                .dropped(.init(handle: 4, uuid: 0xabcd, value: [1]), .command, limit: 65_536),
                "dropped  abcd  0x0004 = 01  command  65536 octets may wait for its program"
            ),
            (
                .dropped(.init(handle: 4, uuid: 0xabcd, value: [1]), .command, limit: nil),
                "dropped  abcd  0x0004 = 01  command  the server is ending"
            ),
            (
                .undelivered(.init(handle: 4, uuid: 0xabcd, value: [1]), .command),
                "undelivered  abcd  0x0004 = 01  command  its program did not receive it before the end"
            ),
            (
                .subscribed(.init(handle: 3, uuid: 0x2a19), indications: false),
                "subscribed  2a19 Battery Level  0x0003  notification"
            ),
            (
                .security(level: "high", keySize: 16, isBonded: true),
                "security  high  key of 16 octets  bonded"
            ),
        ] as [(ServerEvent.What, String)])
    func serverEventsHaveText(what: ServerEvent.What, words: String) {
        let event = ServerEvent(central: address, what: what, time: Timestamp(milliseconds: 42))
        #expect(
            event.lines(colored: false) == ["1970-01-01T00:00:00.042Z  C0:BB:CC:DD:EE:01 \(words)"])
    }
}
