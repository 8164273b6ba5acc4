import BLEAdvertising
import BLECore
import Testing

@testable import bletool

struct ScanTableTests {
    private let now = Timestamp(milliseconds: 100_000)

    /// Returns a packet that was received `ago` milliseconds before `now`.
    private func event(
        _ address: UInt64, rssi: Int8 = -50, set: UInt8? = nil, name: String? = nil, ago: Int64 = 0,
        connectable: Bool = true, payload: [UInt8] = []
    ) -> AdvertisementEvent {
        let field: [UInt8] = name.map { [UInt8($0.utf8.count + 1), 0x09] + Array($0.utf8) } ?? []
        return AdvertisementEvent(
            address: DeviceAddress(address, type: .public), rssi: rssi, isConnectable: connectable,
            isScannable: true, isScanResponse: false, isLegacy: true, set: set,
            fields: AdvertisingData(field + payload), payload: field + payload,
            time: Timestamp(milliseconds: now.milliseconds - ago), companyName: Names.company,
            serviceName: Names.name)
    }

    private func table(_ events: [AdvertisementEvent]) -> ScanTable {
        var table = ScanTable()
        for event in events { table.note(event) }
        return table
    }

    private func texts(_ table: ScanTable, _ columns: Int, _ lines: Int) -> [String] {
        var table = table
        return table.lines(columns: columns, lines: lines, at: now).map(\.text)
    }

    private func names(_ table: ScanTable) -> [String] { table.shown(at: now).map(\.name) }

    @Test("80 columns show a title, headings, a line for each device and the keys")
    func screenShowsTableAndKeys() {
        let heart: [UInt8] = [3, 0x03, 0x0d, 0x18, 5, 0xff, 0x4c, 0, 0x10, 5]
        var events = [event(1, rssi: -60, name: "Pulse", ago: 4000, payload: heart)]
        events += [event(2, rssi: -50, name: "温度計", ago: 2500), event(3, rssi: -90)]
        let lines = texts(table(events), 80, 8)
        #expect(lines.count == 8)
        #expect(lines[0] == "3 devices · by RSSI · 3 packets")
        #expect(lines[1].hasPrefix("  ADDRESS           KIND   NAME") && lines[1].contains("SERVICES"))
        #expect(lines[2].hasPrefix("  00:00:00:00:00:02 public 温度計 "))
        #expect(lines[3].hasPrefix("  00:00:00:00:00:01 public Pulse "))
        #expect(lines[3].contains("Heart R") && lines[3].contains("Apple") && lines[3].hasSuffix("  4s"))
        #expect(lines[4].hasPrefix("  00:00:00:00:00:03 ") && lines[4].hasSuffix(" now"))
        #expect(lines[5].isEmpty && lines[6].isEmpty)
        #expect(lines[7].hasPrefix("q quit"))
        #expect(lines.allSatisfy { $0.columns <= 80 })
    }

    @Test("the last packets of a row are those of the connectable advertisement and of the beacon beside it")
    func rowHasLastPacketOfEachAdvertisement() throws {
        let beacon: [UInt8] = [5, 0xff, 0x4c, 0, 0x10, 5]
        for ago in [[2, 1], [1, 2]] as [[Int64]] {
            let events = [
                event(1, name: "Lamp", ago: ago[0]),
                event(1, ago: ago[1], connectable: false, payload: beacon),
            ]
            let row = try #require(table(events.sorted { $0.time < $1.time }).shown(at: now).first)
            #expect(row.lastEvents.map(\.payload) == events.map(\.payload))
        }
        let row = try #require(table([event(1, connectable: false, payload: beacon)]).shown(at: now).first)
        #expect(row.lastEvents.map(\.payload) == [beacon])
    }

    @Test(
        "narrow windows drop the least important columns, and every line fits",
        arguments: [1, 2, 5, 9, 10, 20, 30, 39, 40, 60, 79, 80, 100, 132, 200, 400])
    func linesFitEveryWidth(_ columns: Int) {
        let long = String(repeating: "長い名前", count: 6) + "👩‍👩‍👧‍👦🇩🇪"
        let table = table([event(0xc0ff_eec0_ffee, name: long), event(2, name: "b\u{1b}[31m\u{202e}\u{7}")])
        for lines in [0, 1, 2, 3, 4, 5, 24, 60] {
            let screen = texts(table, columns, lines)
            #expect(screen.count <= max(1, lines))
            #expect(screen.allSatisfy { $0.columns <= columns }, "\(screen)")
            #expect(
                screen.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202e } })
        }
        let headings = ScanColumns(within: columns).heading
        #expect(headings.contains("NAME") == (columns >= 6))
        #expect(headings.contains("ADDRESS") == (columns >= 29 + 5), "\(headings)")
        #expect(headings.contains("KIND") == (columns >= 80), "\(headings)")
    }

    @Test("a device without a name is identified by its address if there is no address column")
    func unnamedDeviceShowsAddressWhenNarrow() {
        #expect(texts(table([event(1)]), 24, 6)[2] == "  00:00:00:00:00:01  -50")
        #expect(texts(table([event(1)]), 12, 6)[2] == "  00:00:00:…")
    }

    @Test func orderKeysSortDevices() {
        var table = table([
            event(3, rssi: -70, name: "b", ago: 300), event(1, rssi: -40, name: "C", ago: 200),
            event(2, rssi: -90, name: "a", ago: 100), event(2, rssi: -90, name: "a", ago: 50),
        ])
        #expect(names(table) == ["C", "b", "a"])
        var seen: [ScanTable.Order: [String]] = [:]
        for _ in ScanTable.Order.allCases {
            _ = table.press(.scalar("s"), page: 5, at: now)
            seen[table.order] = names(table)
        }
        #expect(seen[.name] == ["a", "b", "C"])
        #expect(seen[.address] == ["C", "a", "b"])
        #expect(seen[.rate] == ["a", "b", "C"])
        #expect(seen[.lastSeen] == ["a", "C", "b"])
        #expect(seen[.found] == ["b", "C", "a"])
        #expect(table.order == .strength, "after the last comes the first")
        _ = table.press(.scalar("r"), page: 5, at: now)
        #expect(names(table) == ["a", "b", "C"])
    }

    @Test("small changes of signal strength do not reorder rows")
    func smallRSSIChangesKeepOrder() {
        var table = table([event(1, rssi: -52, name: "a"), event(2, rssi: -54, name: "b")])
        #expect(names(table) == ["a", "b"])
        table.note(event(2, rssi: -51, name: "b"))
        #expect(names(table) == ["a", "b"])
        for _ in 1...8 { table.note(event(2, rssi: -30, name: "b")) }
        #expect(names(table) == ["b", "a"])
    }

    @Test func typedFilterSelectsDevices() {
        var table = table([event(1, name: "Kitchen"), event(2, name: "Bath"), event(3)])
        for key in "/kIt".unicodeScalars { _ = table.press(.scalar(key), page: 5, at: now) }
        #expect(names(table) == ["Kitchen"])
        #expect(texts(table, 80, 8)[7] == "/kIt▏")
        #expect(texts(table, 80, 8)[0] == "3 devices · 1 pass the filter · by RSSI · 3 packets")
        // While a filter is typed, characters are text, not keys.
        _ = table.press(.scalar("q"), page: 5, at: now)
        #expect(names(table) == [])
        _ = table.press(.backspace, page: 5, at: now)
        _ = table.press(.enter, page: 5, at: now)
        #expect(names(table) == ["Kitchen"] && !table.isTyping)
        #expect(texts(table, 80, 8)[0].contains(#"filter "kIt""#))
        #expect(table.press(.escape, page: 5, at: now) == nil)
        #expect(names(table).count == 3)
        #expect(table.press(.scalar("q"), page: 5, at: now) == .quit)
    }

    @Test("filters match addresses, services, companies and beacons")
    func filtersMatchAllFields() {
        let ruuvi = [UInt8](hex: "1bff99040512fc5394c37c0004fffc040cac364200cdcbb8334c884f") ?? []
        let row = ScanRow(
            .init(address: nil, set: nil), first: 1,
            event(0xaabb_ccdd_eeff, payload: [3, 3, 0x0d, 0x18] + ruuvi))
        for text in ["aa:bb", "ruuvi", "24.300 °C", "heart rate", "PUBLIC", ""] { #expect(row.matches(text)) }
        #expect(!row.matches("battery service"))
    }

    @Test("a paused table does not change")
    func pausedTableDoesNotChange() {
        var table = table([event(1, rssi: -50, name: "a")])
        _ = table.press(.scalar("p"), page: 5, at: now)
        table.note(event(1, rssi: -90, name: "a"))
        table.note(event(2, name: "b"))
        #expect(names(table) == ["a"] && table.missed == 2)
        #expect(table.shown(at: now)[0].event.rssi == -50)
        #expect(texts(table, 80, 8)[0] == "1 device · PAUSED, 2 packets since · by RSSI · 3 packets")
        _ = table.press(.scalar(" "), page: 5, at: now)
        table.note(event(2, name: "b"))
        #expect(names(table) == ["a", "b"])
    }

    @Test("the selection follows its device and stays visible")
    func selectionFollowsDevice() {
        var table = table((1...20).map { event($0, rssi: Int8(-30 - 3 * Int($0)), name: "n\($0)") })
        _ = table.press(.down, page: 5, at: now)
        #expect(table.selection?.address?.value == 1)
        _ = table.press(.pageDown, page: 5, at: now)
        #expect(table.selection?.address?.value == 6)
        _ = table.press(.up, page: 5, at: now)
        #expect(table.selection?.address?.value == 5)
        _ = table.press(.end, page: 5, at: now)
        #expect(table.selection?.address?.value == 20)
        let lines = table.lines(columns: 80, lines: 8, at: now)
        #expect(lines.filter { $0.look == .selected }.map { $0.text.prefix(19) } == ["> 00:00:00:00:00:14"])
        #expect(lines[0].text.contains("5 visible"))
        _ = table.press(.home, page: 5, at: now)
        for _ in 1...9 { table.note(event(20, rssi: -20, name: "n20")) }
        #expect(table.shown(at: now)[0].name == "n20" && table.selection?.address?.value == 1)
        _ = table.press(.pageUp, page: 5, at: now)
        #expect(table.selection?.address?.value == 20)
    }

    @Test("the device view shows fields, and packets with the newest first")
    func deviceViewShowsFieldsAndPackets() {
        var table = table([
            event(1, rssi: -60, name: "Pulse", ago: 2000), event(1, rssi: -50, name: "Pulse"),
            event(2, rssi: -70),
        ])
        _ = table.press(.down, page: 5, at: now)
        _ = table.press(.enter, page: 5, at: now)
        let lines = texts(table, 80, 24)
        #expect(lines[0] == "00:00:00:00:00:01 public, public  Pulse")
        #expect(lines[1].hasPrefix("RSSI      -50 dBm, -60 to -50, mean -55  ▅▆"))
        #expect(lines[2] == "packets   2, 0.5/s, last now")
        #expect(lines[3] == "type      connectable, scannable, legacy")
        #expect(lines.contains { $0.hasPrefix("  Complete Local Name") && $0.hasSuffix(" 50756c7365") })
        let packets = lines.drop { $0 != "PACKETS" }.dropFirst().prefix(2)
        #expect(
            packets == [
                "     0.0s ago   -50  data      060950756c7365",
                "     2.0s ago   -60  data      060950756c7365",
            ])
        // The view does not scroll beyond its end.
        for _ in 1...50 { _ = table.press(.down, page: 5, at: now) }
        let end = table.lines(columns: 80, lines: 6, at: now)
        #expect(end.contains { $0.text.contains("2.0s ago") })
        _ = table.press(.up, page: 5, at: now)
        let above = table.lines(columns: 80, lines: 6, at: now)
        #expect(above[2] == end[1], "from there it scrolls back at once")
        _ = table.press(.scalar("G"), page: 5, at: now)
        #expect(table.lines(columns: 80, lines: 6, at: now) == end)
        #expect(table.press(.scalar("q"), page: 5, at: now) == nil)
        #expect(table.view == .table)
    }

    @Test func connectKeyRequiresConnectableDevice() {
        var empty = self.table([])
        #expect(empty.press(.scalar("c"), page: 5, at: now) == nil)
        #expect(texts(empty, 80, 8)[7].contains("there is no device yet"))
        var table = self.table([event(1, rssi: -40), event(2, connectable: false)])
        // Without a selection, the key applies to the first device.
        #expect(
            table.press(.scalar("c"), page: 5, at: now) == .connect(DeviceAddress(1, type: .public)))
        #expect(table.selection?.address?.value == 1)
        _ = table.press(.down, page: 5, at: now)
        #expect(table.press(.scalar("c"), page: 5, at: now) == nil)
        #expect(table.message == "00:00:00:00:00:02 is not connectable")
    }

    @Test("a device with several advertisements keeps the content of each")
    func severalAdvertisementsAreKept() {
        let iBeacon =
            [UInt8](hex: "1aff4c000215000102030405060708090a0b0c0d0e0f00010002c5") ?? []
        let nordic: [UInt8] = [3, 0x03, 0x0d, 0x18, 4, 0xff, 0x59, 0, 1]
        let named = event(1, name: "Pulse", payload: nordic)
        let beacon = event(1, connectable: false, payload: iBeacon)
        var table = table([named])
        _ = table.press(.down, page: 5, at: now)
        for key in "/pul".unicodeScalars { _ = table.press(.scalar(key), page: 5, at: now) }
        _ = table.press(.enter, page: 5, at: now)
        for packet in [beacon, named, beacon] {
            table.note(packet)
            let row = table.shown(at: now).first
            #expect(row?.name == "Pulse" && row?.services == "Heart Rate")
            #expect(
                row?.companyText.hasPrefix("iBeacon ") == true && row?.companyText.contains("Nordic") == true)
        }
        #expect(table.press(.scalar("c"), page: 5, at: now) == .connect(DeviceAddress(1, type: .public)))
    }

    @Test("a message is shown in the last line")
    func messageIsShownInLastLine() {
        var table = table([event(1)])
        let before = texts(table, 80, 8)
        table.message = "bletool: the controller\u{1b} was reset"
        let after = table.lines(columns: 80, lines: 8, at: now)
        #expect(after.dropLast().map(\.text) == before.dropLast())
        #expect(after.last == ScreenLine(text: "bletool: the controller\\u{1b} was reset", look: .problem))
    }

    @Test func rateAndAgeAreComputed() {
        var row = ScanRow(.init(address: nil, set: nil), first: 1, event(1))
        #expect(row.rate(at: now) == nil)
        for ago in stride(from: Int64(12_000), through: 0, by: -500) { row.note(event(1, ago: ago)) }
        #expect(row.rate(at: now) == 2)
        #expect(row.count == 25 && row.age(at: now) == "now")
        #expect(row.rate(at: Timestamp(milliseconds: now.milliseconds + 60_000)) == nil)
        #expect(row.age(at: Timestamp(milliseconds: now.milliseconds + 60_000)) == "60s")
        #expect(row.age(at: Timestamp(milliseconds: now.milliseconds + 200_000)) == "3m")
        #expect(row.age(at: Timestamp(milliseconds: now.milliseconds + 7_200_000)) == "2h")
    }

    @Test func rememberedDevicesAndPacketsAreBounded() {
        var table = ScanTable()
        for address in 1...5000 as ClosedRange<UInt64> { table.note(event(address)) }
        #expect(table.count == 4096)
        for _ in 1...200 { table.note(event(5000)) }
        let last = table.shown(at: now).first { $0.key.address?.value == 5000 }
        #expect(last?.count == 201 && last?.packets.count == 64)
    }

    @Test func helpOpensAndCloses() {
        var table = ScanTable()
        _ = table.press(.scalar("?"), page: 5, at: now)
        #expect(texts(table, 80, 24).contains { $0.hasPrefix("c  ") })
        _ = table.press(.scalar("x"), page: 5, at: now)
        #expect(table.view == .table)
    }
}

struct TerminalTests {
    @Test("characters are zero, one or two columns wide")
    func charactersHaveColumnWidths() {
        for (sign, columns) in [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("温", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2), ("👍", 2), ("👩‍👩‍👧‍👦", 2),
            ("🇩🇪", 2), ("❤", 1), ("❤️", 2), ("\u{301}", 0), ("…", 1), ("█", 1), ("☺", 1),
        ] as [(Character, Int)] { #expect(sign.columns == columns, "\(sign)") }
    }

    @Test func textIsCutToColumns() {
        #expect("abc".cut(toColumns: 3) == "abc" && "abcd".cut(toColumns: 3) == "ab…")
        #expect("温度計".cut(toColumns: 5) == "温度…" && "温度計".cut(toColumns: 4) == "温…")
        #expect(
            "温度計".filling(4) == "温… " && "a".filling(3, fromRight: true) == "  a" && "ab".filling(0) == "")
    }

    @Test func textIsWrappedToColumns() {
        #expect("abc".wrapped(toColumns: 3) == ["abc"])
        #expect("abcdefg".wrapped(toColumns: 3) == ["abc", "def", "g"])
        #expect("a温度計".wrapped(toColumns: 4) == ["a温", "度計"])
        let long = String(repeating: "x", count: 30).wrapped(toColumns: 20)
        #expect(long == [String(repeating: "x", count: 20), "    " + String(repeating: "x", count: 10)])
    }

    @Test func sparklineShowsSignalStrengths() {
        #expect(Sparkline.text([-128, -100, -92, -65, -40, -30, 20]) == "▁▁▁▅▇██")
        #expect(Sparkline.text([]) == "")
    }
}
