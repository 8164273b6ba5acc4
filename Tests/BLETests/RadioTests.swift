import BLE
import BLEAdvertising
import BLECore
import HCI
import SMP
import Testing

/// The machines of the radio together, with a controller that a test determines.
@Suite struct RadioTests {
    @Test("a search for a train follows the scan that it needs, and the scan ends with it")
    func searchForTrainScans() throws {
        let radio = PlayedRadio()
        let train = radio.follow()
        #expect(
            radio.settle() == [
                "scanner LE Set Scan Parameters", "synchronizer LE Periodic Advertising Create Sync",
            ])
        radio.answerAll()
        #expect(radio.isScanning)
        radio.radio.end(train)
        radio.answerAll()
        #expect(!radio.isScanning && radio.isQuiet)
    }

    @Test("an attempt to connect to several devices takes the accept list from a scan, and gives it back")
    func connectingTakesAcceptList() {
        let radio = PlayedRadio()
        var options = ScanOptions()
        options.addresses = [AddressFilter(PlayedRadio.device(1))]
        _ = radio.radio.scan(options, at: .zero)
        radio.answerAll()
        #expect(radio.filters)
        for number in 2...3 { radio.connect(to: PlayedRadio.device(number)) }
        radio.answerAll()
        #expect(radio.isInitiating && radio.isScanning && !radio.filters)
        for number in 2...3 { radio.giveUp(PlayedRadio.device(number)) }
        radio.answerAll()
        #expect(!radio.isInitiating && radio.isScanning && radio.filters)
    }

    @Test("the radio is silent while the address changes, and afterwards all continues")
    func radioPausesForAddress() throws {
        let radio = PlayedRadio(privacy: PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60)))
        let first = try #require(radio.radio.privateAddress)
        _ = radio.radio.scan(ScanOptions(), at: .zero)
        _ = try radio.advertise()
        radio.connect(to: PlayedRadio.device(1))
        radio.answerAll()
        #expect(radio.isInitiating && radio.isScanning && radio.isAdvertising)
        radio.wait(.seconds(60))
        #expect(radio.rests([.changes, .connecting, .pauses]) == [])
        radio.answerAll()
        #expect(radio.rested == [0, 2], "the controller is connecting")
        #expect(try #require(radio.radio.privateAddress) != first)
        #expect(radio.isInitiating && radio.isScanning && radio.isAdvertising)
        #expect(radio.faults == [])
    }

    @Test("a sleeping system neither scans nor advertises")
    func suspendedRadio() throws {
        let radio = PlayedRadio()
        _ = radio.radio.scan(ScanOptions(), at: .zero)
        _ = try radio.advertise()
        radio.answerAll()
        for isSuspended in [true, false] {
            radio.common.isSuspended = isSuspended
            radio.radio.surroundingsChanged()
            radio.answerAll()
            #expect(radio.isScanning == !isSuspended && radio.isAdvertising == !isSuspended)
        }
    }

    @Test(
        "a peer that only this host recognizes is searched for by a scan, and connected to by its present address"
    )
    func hiddenPeerIsSearchedFor() {
        let radio = PlayedRadio()
        radio.changeBond(with: 4)
        radio.connect(to: PlayedRadio.device(4))
        radio.answerAll()
        #expect(radio.isScanning && !radio.isInitiating)
        radio.hear(4)
        radio.answerAll()
        #expect(radio.isScanning && radio.isInitiating)
        radio.giveUp(PlayedRadio.device(4))
        radio.answerAll()
        #expect(!radio.isScanning && radio.isQuiet)
    }

    @Test("a peer that the controller should have recognized is connected to by the packet that shows that")
    func missedPeerIsConnectedTo() {
        let radio = PlayedRadio(resolving: 1)
        for number in 4...5 { radio.changeBond(with: number) }
        radio.answerAll()
        for number in 4...5 { radio.connect(to: PlayedRadio.device(number)) }
        radio.answerAll()
        let resolved = [4, 5].filter { radio.radio.controllerHasKey(of: PlayedRadio.device($0)) }
        #expect(resolved.count == 1 && radio.isScanning && radio.isInitiating)
        for number in resolved { radio.hear(number) }
        radio.answerAll()
        #expect(
            radio.isInitiating
                && !resolved.contains { radio.radio.controllerHasKey(of: PlayedRadio.device($0)) })
    }

    @Test("a peer that the controller resolves is searched for by the host, too, when it is not found")
    func hostHelpsController() {
        let radio = PlayedRadio(resolving: 2)
        radio.changeBond(with: 4)
        radio.answerAll()
        radio.connect(to: PlayedRadio.device(4))
        radio.answerAll()
        #expect(!radio.isScanning && radio.isInitiating)
        radio.wait(.seconds(10))
        radio.answerAll()
        #expect(radio.isScanning && radio.isInitiating)
    }

    /// Whatever the controller answers, the machines settle after each input, send one command each at a time, and
    /// leave the radio quiet when nothing is required any more.
    @Test(arguments: 0..<300) func radioSettles(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let privacy = PrivacyOptions(isEnabled: seed % 4 < 2, addressLifetime: .seconds(5))
        let radio = PlayedRadio(
            isExtended: seed % 2 == 0, privacy: privacy, resolving: seed % 3 == 0 ? 2 : 0)
        var (scans, trains): ([ScanID], [PeriodicSyncID]) = ([], [])
        var advertisements: [AdvertisingID] = []
        for _ in 0..<40 {
            switch Int.random(in: 0..<14, using: &random) {
            case 0, 1:
                var options = ScanOptions()
                options.isPassive = Bool.random(using: &random)
                if Bool.random(using: &random) { options.addresses = [AddressFilter(PlayedRadio.device(1))] }
                scans.append(radio.radio.scan(options, at: radio.surroundings.now))
            case 2: if let scan = scans.popLast() { radio.radio.end(scan, at: radio.surroundings.now) }
            case 3: trains.append(radio.follow())
            case 4: if let train = trains.popLast() { radio.radio.end(train) }
            case 5, 6: radio.connect(to: PlayedRadio.device(.random(in: 1...5, using: &random)))
            case 7: radio.giveUp(PlayedRadio.device(.random(in: 1...5, using: &random)))
            case 8:
                radio.common.isSuspended.toggle()
                radio.radio.surroundingsChanged()
            case 9: radio.wait(.milliseconds(.random(in: 1...6_000, using: &random)))
            case 10: radio.changeBond(with: .random(in: 3...5, using: &random))
            // The controller may have no set left.
            case 11: if let id = try? radio.advertise() { advertisements.append(id) }
            case 12: if let id = advertisements.popLast() { radio.radio.stop(id) }
            case 13 where radio.isRecovering: radio.reset()
            default: radio.report(using: &random)
            }
            _ = radio.settle()
            for _ in 0..<Int.random(in: 0...3, using: &random) { radio.answerOne(using: &random) }
        }
        radio.common.isSuspended = false
        radio.radio.surroundingsChanged()
        if radio.isRecovering { radio.reset() }
        // Where scans and connection attempts take turns, these are 5 s long.
        var (scanned, initiated, advertised) = (false, false, false)
        for _ in 0..<20 {
            radio.answerAll()
            radio.wait(.seconds(1))
            (scanned, initiated) = (scanned || radio.isScanning, initiated || radio.isInitiating)
            advertised = advertised || radio.isAdvertising
        }
        #expect((scanned || !radio.radio.isScanWanted) && (initiated || !radio.isConnecting))
        #expect(advertised || advertisements.allSatisfy(radio.ended.contains))
        #expect(radio.started.union(radio.ended).isSuperset(of: advertisements))
        for scan in scans { radio.radio.end(scan, at: radio.surroundings.now) }
        for train in trains { radio.radio.end(train) }
        for id in advertisements { radio.radio.stop(id) }
        for number in 1...5 { radio.giveUp(PlayedRadio.device(number)) }
        for _ in 0..<10 {
            radio.wait(.seconds(5))
            radio.answerAll()
        }
        #expect(radio.isQuiet && !radio.isScanning && !radio.isInitiating && !radio.isSearching)
        #expect(!radio.isAdvertising)
        #expect(radio.offAir.isSuperset(of: advertisements))
        #expect(radio.faults == [])
    }
}

/// A radio with the state of its controller. A class, so that a test can expect what changes it.
private final class PlayedRadio {
    var radio: Radio
    var surroundings = Radio.Surroundings(at: .zero)
    var common = Common(identity: DeviceAddress(0xf0, type: .public), random: HostRandom(seed: 1))
    /// The commands that are not answered, oldest first.
    private var asked: [(command: MachineCommand, machine: Radio.Machine)] = []
    private(set) var faults: [String] = []
    private(set) var rested: [UInt64] = []
    /// What became of the advertisements.
    private(set) var (started, ended, offAir) = (
        Set<AdvertisingID>(), Set<AdvertisingID>(), Set<AdvertisingID>()
    )

    // The controller.
    private(set) var isScanning = false
    private(set) var filters = false
    private var filterPolicy = false
    private(set) var isInitiating = false
    private(set) var isSearching = false
    private(set) var isAdvertising = false

    /// The number of peers for which the controller's resolving list has room.
    private let listSize: Int

    init(isExtended: Bool = false, privacy: PrivacyOptions = .off, resolving listSize: Int = 0) {
        radio = Radio(remembering: 16, privacy: privacy)
        self.listSize = listSize
        if isExtended {
            common.controller.features = [.extendedAdvertising, .periodicAdvertising]
            common.controller.commands = SupportedCommands([.leSetExtendedAdvertisingEnable])
        }
        setUp()
    }

    /// Sets the controller up, which has been reset.
    private func setUp() {
        radio.acceptListWasReset(holding: 2)
        radio.privacyWasReset(listSize: listSize, at: surroundings.now)
        while (try? radio.nextSetupCommand(at: surroundings.now, &common)) != nil {
            radio.setupAnswered(.done([]), at: surroundings.now)
        }
        _ = settle()
    }

    func advertise() throws -> AdvertisingID {
        var content = AdvertisingContent()
        content.name = "peer"
        let plan = try AdvertisingPlan(content, kind: .connectable)
        return try radio.advertise(AdvertisingRequest(plan), maximumLinks: 1, under: surroundings, common)
    }

    static func device(_ number: Int) -> DeviceAddress { DeviceAddress(UInt64(number), type: .public) }

    var isSilent: Bool {
        radio.isScanQuiet && radio.isInitiatorQuiet && radio.isAdvertiserQuiet && !radio.isSearchingForTrain
    }

    /// Whether the radio is silent, and all waits for that are over.
    var isQuiet: Bool {
        rests([.changes, .connecting, .pauses]) == [0, 1, 2] && isSilent && radio.isInitiatorIdle
    }

    /// Waits for these, and returns the numbers of those that are met at once.
    func rests(_ rests: [Radio.Rest]) -> [UInt64] {
        for (number, rest) in rests.enumerated() { radio.wait(UInt64(number), for: rest) }
        rested = []
        _ = settle()
        return rested
    }

    /// Whether the controller is to connect to a device.
    var isConnecting: Bool { (1...5).contains { radio.isInitiating(to: Self.device($0)) } }

    /// Adds a request to connect to a device.
    func connect(to device: DeviceAddress) {
        let ticket = radio.nextTicket()
        let request = ConnectState.Request(ticket: ticket, options: ConnectionOptions())
        if radio.wait(request, for: device, at: surroundings.now) {
            radio.look(for: device, common, at: surroundings.now)
        }
    }

    /// Ends all requests to connect to a device.
    func giveUp(_ device: DeviceAddress) { _ = radio.giveUp(device, at: surroundings.now) }

    /// Makes or removes the bond with a device that uses private addresses.
    func changeBond(with number: Int) {
        var bond = Bond(
            with: Self.device(number), as: common.identity,
            PairingStrength(isAuthenticated: false, isSecureConnections: true))
        bond.peerIdentityKey = UInt128(number)
        if !common.bonds.remove(bond.id) {
            common.bonds.put(BondRecord(bond, created: Timestamp(milliseconds: 0)))
        }
        radio.setPeers(common)
        lookAgain()
        radio.peersChanged()
    }

    private func lookAgain() {
        for device in radio.wantedDevices { radio.look(for: device, common, at: surroundings.now) }
    }

    /// Receives a packet of a bonded device, which uses a private address.
    func hear(_ number: Int) {
        let address = DeviceAddress.resolvable(
            UInt32(number), key: SecurityManager.aes128(key: UInt128(number)))
        let octets = (0..<6).map { UInt8(truncatingIfNeeded: address.value >> ($0 * 8)) }
        let packet: [UInt8] = [0x04, 0x3e, 12, 0x02, 1, 0x00, 0x01] + octets + [0, 0xc4]
        do throws(DecodeError) {
            if try !radio.receive(packet.span, at: surroundings.now, &common, deliver: { _, _ in }) {
                faults.append("no report")
            }
        } catch {
            faults.append("\(error)")
        }
        _ = settle()
    }

    func follow() -> PeriodicSyncID {
        radio.follow(.init(advertiser: Self.device(9), set: 1), PeriodicSyncOptions())
    }

    /// Settles, and returns the commands with their machines.
    func settle() -> [String] {
        var sent: [String] = []
        while let output = radio.next(under: surroundings, &common) {
            if case .event(let event) = output { note(event) }
            guard case .command(let command, let machine) = output else { continue }
            if asked.contains(where: { isSame($0.machine, machine) }) {
                faults.append("two commands of \(machine)")
            }
            asked.append((command, machine))
            sent.append("\(machine) \(command.packet.opcode)")
        }
        if radio.isRestless { faults.append("restless") }
        return sent
    }

    private func note(_ event: Radio.Event) {
        switch event {
        case .rested(let number): rested.append(number)
        case .advertising(.started(let id)): started.insert(id)
        case .advertising(.ended(let id, _)): ended.insert(id)
        case .advertising(.offAir(let id)): offAir.insert(id)
        case .connectFailed(let device, _): giveUp(device)
        case .addressesChanged: lookAgain()
        default: break
        }
    }

    private func isSame(_ one: Radio.Machine, _ other: Radio.Machine) -> Bool {
        if case (.privacy, .privacy) = (one, other) { true } else { one == other }
    }

    func wait(_ duration: Duration) {
        surroundings.now = surroundings.now + duration
        if let due = radio.deadline(isRecovering: isRecovering), due <= surroundings.now {
            radio.expire(under: surroundings, common)
        }
        _ = settle()
    }

    /// Answers the oldest command: executes it, unless there is another answer or nothing to execute. The controller then
    /// reports the end of what was cancelled.
    private func answer(_ other: CommandAnswer? = nil) {
        let (command, machine) = asked.removeFirst()
        let opcode = command.packet.opcode
        let isPossible =
            switch opcode {
            case .leCreateConnection, .leExtendedCreateConnection: !isInitiating
            case .leCreateConnectionCancel: isInitiating
            case .lePeriodicAdvertisingCreateSync: !isSearching
            case .lePeriodicAdvertisingCreateSyncCancel: isSearching
            default: true
            }
        let answer = other ?? (isPossible ? .done([]) : .refused(.commandDisallowed))
        if answer == .done([]) { execute(command.packet) }
        radio.answered(answer, to: machine, under: surroundings, common)
        _ = settle()
        guard answer == .done([]) else { return }
        if opcode == .leCreateConnectionCancel { endConnecting() }
        if opcode == .lePeriodicAdvertisingCreateSyncCancel { endSearch() }
    }

    private func execute(_ packet: HCICommandPacket) {
        switch packet.opcode {
        case .leSetScanParameters: filterPolicy = packet.parameters.last == 1
        case .leSetExtendedScanParameters: filterPolicy = packet.parameters[1] == 1
        case .leSetScanEnable, .leSetExtendedScanEnable:
            isScanning = packet.parameters[0] == 1
            filters = isScanning && filterPolicy
        case .leCreateConnection, .leExtendedCreateConnection: isInitiating = true
        case .lePeriodicAdvertisingCreateSync: isSearching = true
        case .leSetAdvertisingEnable, .leSetExtendedAdvertisingEnable:
            isAdvertising = packet.parameters[0] == 1
        case .leSetRandomAddress:
            if isScanning || isInitiating || isAdvertising { faults.append("the address changes on air") }
        default: break
        }
    }

    /// Answers all commands, until there are none.
    func answerAll() {
        _ = settle()
        for _ in 0..<200 where !asked.isEmpty { answer() }
        if !asked.isEmpty { faults.append("commands without end") }
    }

    /// Answers the oldest command. Some are not answered, and some beginnings are refused.
    func answerOne(using random: inout SplitMix64) {
        guard let packet = asked.first?.command.packet else { return }
        let begins =
            switch packet.opcode {
            case .leCreateConnectionCancel, .lePeriodicAdvertisingCreateSyncCancel,
                .lePeriodicAdvertisingTerminateSync:
                false
            case .leSetScanEnable, .leSetExtendedScanEnable, .leSetAdvertisingEnable,
                .leSetExtendedAdvertisingEnable:
                packet.parameters[0] == 1
            default: true
            }
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            surroundings.isRecovering = true
            answer(.silent)
        case 1 where begins: answer(.refused(.commandDisallowed))
        default: answer()
        }
    }

    /// Whether the controller was silent, and is not yet reset.
    var isRecovering: Bool { surroundings.isRecovering }

    /// Resets a controller that was silent, as the recovery does.
    func reset() {
        (isScanning, filters, isInitiating, isSearching) = (false, false, false, false)
        isAdvertising = false
        while !asked.isEmpty { answer(.silent) }
        setUp()
        surroundings.isRecovering = false
        radio.controllerIsBack(wasReset: true)
        _ = settle()
    }

    /// Reports an outcome of what the controller does.
    func report(using random: inout SplitMix64) {
        if isInitiating, Bool.random(using: &random) {
            isInitiating = false
            let device = Self.device(.random(in: 1...5, using: &random))
            giveUp(radio.connected(to: device, as: [device], &common))
        } else if isScanning, Bool.random(using: &random) {
            hear(.random(in: 3...5, using: &random))
        } else if isSearching {
            isSearching = false
            radio.established(.init(status: .connectionFailedToBeEstablished, train: Self.noTrain))
        }
        _ = settle()
    }

    private func endConnecting() {
        isInitiating = false
        radio.connectFailed(.unknownConnectionIdentifier)
        _ = settle()
    }

    private func endSearch() {
        isSearching = false
        radio.established(.init(status: .operationCancelledByHost, train: Self.noTrain))
        _ = settle()
    }

    private static let noTrain = PeriodicTrain(
        sync: SyncHandle(rawValue: 0), sid: 0, advertiser: HCIAddress(0, type: .public), phy: .le1M,
        interval: ConnectionInterval(rawValue: 0))
}
