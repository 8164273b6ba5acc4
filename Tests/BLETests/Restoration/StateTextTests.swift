import ATT
import BLEAdvertising
import BLECore
import GATTServer
import HCI
import HCISocket
import Testing

@testable import BLE

/// The text form of the state that managers keep.
struct StateTextTests {
    static let peer = Peripheral.Identifier(DeviceAddress(0xc011_2233_4455, type: .random))

    /// Returns a state with each kind of value.
    static func central() throws -> CentralState {
        var connection = ConnectionOptions()
        connection.mtu = ATTMTU(185)
        connection.security = .secureConnections
        (connection.encryptsIfBonded, connection.raisesSecurity) = (false, false)
        connection.parameters = .init(
            interval: .microseconds(7500)...Duration.seconds(4), latency: 499,
            supervisionTimeout: .seconds(32))
        connection.phys = [.le1M, .leCoded]
        connection.establishmentAttempts = 1
        connection.background = .lowPower
        var scan = ScanOptions()
        scan.services = [0x180d, 0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e]
        scan.name = "Küche *\n%"
        scan.addresses = [AddressFilter(peer.address), AddressFilter(0x001b_dc07_3188)]
        scan.companies = [0x004c]
        scan.overflowServices = [13: 0x180d, 127: 0x1234_5678_9abc_def0_1234_5678_9abc_def0]
        scan.solicitedServices = [0x180f]
        scan.minimumRSSI = -70
        scan.isPassive = true
        scan.repeats = .every(.milliseconds(1500))
        scan.preset = .lowPower
        scan.timing = try ScanTiming(interval: .microseconds(2500), window: .microseconds(2500))
        scan.codedTiming = try ScanTiming(interval: .milliseconds(40_960), window: .milliseconds(5))
        scan.extended = .on
        scan.phys = [.le1M, .leCoded]
        scan.buffer = 7
        var state = CentralState()
        let notified = RestoredSubscription(
            characteristic: 0x2a37, handle: 0x0012, indications: false, buffer: .standard,
            confirming: .whenQueued, completing: false)
        let indicated = RestoredSubscription(
            characteristic: 0xfff1, handle: 0x0020, indications: true, buffer: .newest(1),
            confirming: .whenTaken,
            completing: true)
        state.links[state.number()] = RestoredPeripheral(
            peer, .connected, options: connection, subscriptions: [notified, indicated])
        state.links[state.number()] = RestoredPeripheral(Peripheral.Identifier(SampleBonds.local))
        state.scans[state.number()] = scan
        state.scans[state.number()] = ScanOptions()
        state.note(peer, at: SampleBonds.noon)
        state.note(Peripheral.Identifier(SampleBonds.local), at: Timestamp(milliseconds: 0))
        return state
    }

    /// Returns a state with each kind of value.
    static func serving() throws -> ServingState {
        var content = AdvertisingContent()
        content.name = "Thermometer in the kitchen"
        content.services = [0x1809]
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
        var beacon = AdvertisingRequest(
            try AdvertisingPlan(content, kind: .nonconnectable, extended: true), kind: .nonconnectable)
        beacon.isAnonymous = true
        beacon.interval = .microseconds(20_625)
        beacon.channels = [.channel37]
        (beacon.primaryPHY, beacon.secondaryPHY) = (.leCoded, .le2M)
        (beacon.power, beacon.sid, beacon.maximumEvents) = (-7, 15, 255)
        (beacon.correctsPowerField, beacon.includesTxPower) = (true, true)
        beacon.duration = .seconds(600)
        beacon.periodic = PeriodicAdvertisingTrain([1, 2, 3], within: .milliseconds(10) ... .seconds(1))
        beacon.periodic?.includesTxPower = true
        let database = try AttributeDatabase([
            GATTService(0x1809, includes: [.uuid(0x180f)]) {
                GATTCharacteristic(0x2a1c, properties: [.read, .indicate], value: .stored([1, 2]))
            },
            GATTService(0x180f, isPrimary: false),
        ])
        var state = ServingState()
        state.published(database.records)
        state.keep([database.valueHandle(of: 0x2a1c) ?? .none: [], 0x0003: [0xff]])
        for request in [
            AdvertisingRequest(plan), beacon, AdvertisingRequest(to: .init(peer.address, dutyCycle: .high)),
        ] {
            state.advertising[state.number()] = RestoredAdvertising(request: request, maximumLinks: 3)
        }
        return state
    }

    static func read<Value: StateText>(_ octets: [UInt8], as type: Value.Type) -> (
        Value, problems: [TextError]
    ) {
        var value = Value()
        var (sections, problems) = TextReader.all(in: octets)
        for section in sections {
            do throws(TextError) {
                try value.read(section)
            } catch {
                problems.append(error)
            }
        }
        return (value, problems)
    }

    @Test("the state of a central manager is read as it was written")
    func centralRoundTrip() throws {
        let state = try Self.central()
        let (read, problems) = Self.read(state.text, as: CentralState.self)
        #expect(problems.isEmpty && read == state)
        #expect(
            String(decoding: RestoredPeripheral(Self.peer).text, as: UTF8.self) == """
                bletool peripheral 1
                address C0:11:22:33:44:55/random
                state connecting
                mtu 517
                security low
                encrypts-if-bonded yes
                raises-security yes
                background balanced
                establishment-attempts 6
                checksum \(checksum(of: RestoredPeripheral(Self.peer).text))

                """)
    }

    @Test("the state of a peripheral manager is read as it was written")
    func servingRoundTrip() throws {
        let state = try Self.serving()
        let (read, problems) = Self.read(state.text, as: ServingState.self)
        #expect(problems.isEmpty && read == state)
        let battery = try #require(
            ServiceRecord([
                .init(handle: 0x0010, type: .primaryService, declaration: [0x0f, 0x18]),
                .init(handle: 0x0011, type: .characteristic, declaration: [0x02, 0x12, 0x00, 0x19, 0x2a]),
                .init(handle: 0x0012, type: 0x2a19, declaration: []),
            ]))
        let text = battery.text([0x0012: [100], 0x0099: [1]])
        #expect(
            String(decoding: text, as: UTF8.self) == """
                bletool service 1
                attribute 0x0010 2800 0f18
                attribute 0x0011 2803 021200192a
                attribute 0x0012 2a19 - 64
                checksum \(checksum(of: text))

                """)
    }

    @Test("the end of a service is kept if it is not that of its last attribute")
    func endOfServiceIsKept() throws {
        let entries = [ServiceRecord.Entry(handle: 0x0010, type: .primaryService, declaration: [0x0f, 0x18])]
        var state = ServingState()
        state.published([try #require(ServiceRecord(entries, end: 0xffff))])
        let (read, problems) = Self.read(state.text, as: ServingState.self)
        #expect(problems.isEmpty && read == state)
        #expect(read.services.map(\.endHandle) == [0xffff] && read.highest == 0xffff)
    }

    /// Returns the checksum at the end of a text.
    private func checksum(of text: [UInt8]) -> String {
        String(decoding: text.dropLast().suffix(8), as: UTF8.self)
    }

    @Test("a damaged section affects no other section")
    func damagedSectionAffectsNoOther() throws {
        let state = try Self.central()
        let octets = state.text
        let starts = octets.indices.filter { octets[$0...].starts(with: Array("bletool ".utf8)) }
        try #require(starts.count == 5)
        // One bit of each octet is changed in turn. A change that splits a heading into two lines damages
        // only its section.
        for index in octets.indices {
            var damaged = octets
            damaged[index] ^= 1 << UInt8(index % 8)
            let (read, problems) = Self.read(damaged, as: CentralState.self)
            #expect(!problems.isEmpty, "octet \(index)")
            let hit = starts.lastIndex { $0 <= index }
            let isEnd = octets[index] == UInt8(ascii: "\n") && (starts + [octets.count]).contains(index + 1)
            var left = read.links.count + read.scans.count + (read.latest.isEmpty ? 0 : 1)
            // The end of one section and the beginning of the next are one line then, so both are damaged.
            if isEnd { left += 1 }
            #expect(left >= 4, "octet \(index) of section \(hit ?? -1)")
        }
        // A text that is truncated anywhere still yields its complete sections.
        for count in octets.indices {
            let (read, _) = Self.read(Array(octets[..<count]), as: CentralState.self)
            let whole = starts.dropFirst().count { $0 <= count }
            let left = read.links.count + read.scans.count + (read.latest.isEmpty ? 0 : 1)
            #expect(left == whole, "\(count) octets")
        }
    }

    @Test("the reader handles randomly damaged text", arguments: 1...100)
    func readerHandlesRandomDamage(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var octets = try Self.central().text
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let index = Int.random(in: octets.indices, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: octets[index] = .random(in: 0...255, using: &random)
            case 1: octets.remove(at: index)
            default: octets.insert(contentsOf: octets.prefix(.random(in: 0...300, using: &random)), at: index)
            }
        }
        try check(octets, as: CentralState.self)
    }

    @Test("the reader handles random service sections with valid checksums", arguments: 1...100)
    func readerHandlesRandomServices(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        // The lines are chosen at random, and the checksums are valid.
        let lines = try Self.serving().text.split(separator: UInt8(ascii: "\n"))
            .filter { !$0.starts(with: Array("checksum".utf8)) }
        var octets: [UInt8] = []
        for _ in 0..<4 {
            let kind = ["service", "advertising", "handles"].randomElement(using: &random) ?? ""
            var writer = TextWriter(kind)
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                guard let line = lines.randomElement(using: &random),
                    !line.starts(with: Array("bletool".utf8))
                else { continue }
                writer.line(String(decoding: line, as: UTF8.self))
            }
            octets += writer.octets
        }
        try check(octets, as: ServingState.self)
    }

    private func check<Value: StateText>(_ octets: [UInt8], as type: Value.Type) throws {
        let (read, _) = Self.read(octets, as: type)
        // A state that was read can be written, and reads back the same.
        let (again, problems) = Self.read(read.text, as: type)
        #expect(problems.isEmpty && again.text == read.text)
    }

    @Test(
        "durations are written and read exactly",
        arguments: [
            (Duration.zero, "0"), (.milliseconds(7) + .microseconds(500), "0.0075"), (.seconds(40), "40"),
            (.milliseconds(-1500), "-1.5"), (.milliseconds(-5), "-0.005"),
            (Duration(secondsComponent: 1, attosecondsComponent: 1), "1.000000000000000001"),
        ])
    func durationsAreExact(time: Duration, text: String) {
        #expect(TextValue.text(time) == text)
        #expect(TextValue.duration(Substring(text)) == time)
        for wrong in ["", "-", ".5", "1.", "1.50", "01", "+1", "--1", "1e3", "1.0000000000000000001", "-0"] {
            #expect(TextValue.duration(Substring(wrong)) == nil, "\(wrong)")
        }
    }

    @Test("beyond the limit the most recently connected devices are kept")
    func mostRecentDevicesAreKept() {
        var state = CentralState()
        for number in 0..<UInt64(1030) {
            let address = DeviceAddress(number, type: .public)
            state.note(Peripheral.Identifier(address), at: Timestamp(milliseconds: Int64(number)))
        }
        // An address that will change is not kept.
        state.note(
            Peripheral.Identifier(DeviceAddress(0x4011_2233_4455, type: .random)), at: SampleBonds.noon)
        #expect(state.latest.count == 1024)
        #expect(state.latest.first?.address == DeviceAddress(1029, type: .public))
        #expect(state.latest.last?.address == DeviceAddress(6, type: .public))
    }
}
