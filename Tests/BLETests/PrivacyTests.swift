import BLEAdvertising
import BLECore
import GATTServer
import HCI
import HCISocket
import SMP
import Testing
import VirtualController

@testable import BLE

/// Hosts with resolvable private addresses, and peers that resolve these addresses by their bonds.
struct PrivacyTests {
    typealias Radio = PairedHosts.Radio

    /// A controller that leaves the resolution of addresses to the host, and one that resolves them.
    static let radios = [Radio(), Radio(isExtended: true)]

    @Test func connectionEventsOfPairedLinkHaveOneIdentifier() async throws {
        let hidden = Radio(privacy: PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60)))
        try await PairedHosts.run(serverRadio: hidden) { hosts in
            let shown = try #require(await hosts.server.privateAddress)
            var events = CentralManager(hosts.client).connectionEvents().makeAsyncIterator()
            let device = try await hosts.connect(to: shown)
            try await device.pair()
            await device.disconnect()
            let id = Peripheral.Identifier(shown)
            #expect(try await events.next() == .connected(id))
            #expect(
                try await events.next() == .disconnected(id, .status(.connectionTerminatedByLocalHost)))
        }
    }

    @Test(arguments: radios) func onlyBondedPeersResolvePrivateAddress(
        _ radio: Radio
    ) async throws {
        var hidden = radio
        hidden.privacy = PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60))
        try await PairedHosts.run(serverRadio: hidden, clientRadio: radio) { hosts in
            let stranger = try await Adapter.open(
                on: await hosts.air.attach(radio.configuration), name: "stranger",
                options: AdapterOptions(loop: hosts.client.loop))
            let shown = try #require(await hosts.server.privateAddress)
            #expect(shown.kind == .resolvable)
            let device = try await hosts.connect(to: shown)
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            await device.disconnect()

            var addresses: Set<DeviceAddress> = [shown]
            for _ in 0..<3 {
                try await hosts.pass(.seconds(61))
                let seen = try #require(try await hosts.find(by: stranger).address)
                #expect(seen.kind == .resolvable)
                #expect(try await hosts.find(by: stranger).identity == nil)
                addresses.insert(seen)
                #expect(try await hosts.find(by: hosts.client).identity == hosts.address)
            }
            #expect(addresses.count == 4)

            // By its identity, or by an earlier private address.
            for name in [hosts.address, shown] {
                let again = try await hosts.connect(to: name)
                #expect(again.address == hosts.address)
                #expect(try await again.security == LinkSecurity(level: .encrypted, isBonded: true))
                await again.disconnect()
            }
            #expect(hosts.serverUser.asked.withLock { $0 } == ["authorize"])
            await stranger.close()
        }
    }

    @Test(arguments: radios) func hiddenCentralIsRecognizedAgain(_ radio: Radio) async throws {
        var hidden = radio
        hidden.privacy = PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60))
        try await PairedHosts.run(serverRadio: radio, clientRadio: hidden) { hosts in
            let (first, stranger) = try await hosts.connectFromBothSides()
            #expect(stranger.address.kind == .resolvable)
            #expect(try await hosts.read(0xaa01, of: first) == [1])
            await first.disconnect()
            try await hosts.pass(.seconds(61))

            let (second, friend) = try await hosts.connectFromBothSides()
            let identity = await hosts.client.address
            #expect(friend.address == identity)
            #expect(try await second.security == LinkSecurity(level: .encrypted, isBonded: true))
            #expect(await hosts.server.bonds.map(\.peer) == [identity])
        }
    }

    /// Pairing computes with the addresses on air, also when the controller reports an identity instead.
    @Test(arguments: radios) func knownPeerPairsAgainBehindNextAddress(_ radio: Radio) async throws {
        var hidden = radio
        hidden.privacy = PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60))
        for secureConnections in [SecureConnectionsUse.off, .preferred] {
            try await PairedHosts.run(
                server: .displayOnly, client: .keyboardOnly, serverRadio: hidden, clientRadio: hidden
            ) { server, client in
                server.secureConnections = secureConnections
                client.secureConnections = secureConnections
            } _: { hosts in
                let shown = try #require(await hosts.server.privateAddress)
                let first = try await hosts.connect(to: shown)
                _ = try await first.pair(.authenticated)
                await first.disconnect()
                try await hosts.pass(.seconds(61))
                try await hosts.server.forgetPeers()

                await #expect(throws: BLEError.bondLost(hosts.address)) { try await hosts.connect() }
                try await hosts.client.removeBond(with: hosts.address)
                // Without the bond, the next address is that of an unknown device.
                let second = try await hosts.connect(to: await hosts.server.privateAddress)
                #expect(try await second.pair(.authenticated).isBonded)
            }
        }
    }

    /// Links, a scan and a pending connect continue while the address changes.
    @Test(arguments: radios) func addressChangeKeepsLinksScansAndConnects(_ radio: Radio) async throws {
        var hidden = radio
        hidden.privacy = PrivacyOptions(isEnabled: true, addressLifetime: .seconds(10))
        try await PairedHosts.run(serverRadio: radio, clientRadio: hidden) { hosts in
            let device = try await hosts.connect()
            let later = try await Adapter.open(
                on: await hosts.air.attach(), name: "later",
                options: AdapterOptions(loop: hosts.client.loop))
            let address = await later.address
            let client = hosts.client
            async let waiting = Task(executorPreference: client.loop) { () throws(BLEError) in
                try await CentralManager(client).connect(to: address, timeout: nil)
            }.value
            var options = ScanOptions()
            options.repeats = .every(.seconds(1))
            let scan = CentralManager(client).scan(options)
            let before = await client.privateAddress
            try await hosts.pass(.seconds(35))
            let after = await client.privateAddress
            #expect(before != after)

            var content = AdvertisingContent()
            content.name = "Later"
            let advertising = try await PeripheralManager(later).advertise(
                AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable)))
            let found = try await waiting
            #expect(found.address == address)
            #expect(try await hosts.read(0xaa00, of: device) == [0])
            for try await sighting in scan where sighting.name == "Later" { break }
            await advertising.stop()
            await later.close()
        }
    }

    @Test func identityFilterFindsHiddenPeer() async throws {
        var hidden = Radio()
        hidden.privacy = .on
        try await PairedHosts.run(serverRadio: hidden) { hosts in
            let device = try await hosts.connect(to: await hosts.server.privateAddress)
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            await device.disconnect()
            var options = ScanOptions()
            options.addresses = [AddressFilter(hosts.address)]
            let found = try await CentralManager(hosts.client).first(options, within: .seconds(5))
            #expect(found.identity == hosts.address)
            #expect(found.address?.kind == .resolvable)
        }
    }

    /// A controller that has a resolving list and does not resolve, and one whose list has no room.
    @Test(arguments: [
        (HCIOpcode.leSetAddressResolutionEnable, HCIStatus.success),
        (.leAddDeviceToResolvingList, .memoryCapacityExceeded),
    ])
    func hostResolvesWhereControllerDoesNot(_ command: HCIOpcode, _ status: HCIStatus) async throws {
        var poor = Radio(isExtended: true)
        poor.play = { $0.opcode == command ? [CommandComplete(command, status: status).packet] : nil }
        let hidden = Radio(privacy: PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60)))
        try await PairedHosts.run(serverRadio: hidden, clientRadio: poor) { hosts in
            let device = try await hosts.connect(to: await hosts.server.privateAddress)
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            await device.disconnect()
            try await hosts.pass(.seconds(61))
            let again = try await hosts.connect()
            #expect(again.address == hosts.address)
            #expect(try await again.security.isBonded)
        }
    }

    @Test("a hidden peer that is away for minutes is searched for in the background and found")
    func absentHiddenPeerIsFoundInBackground() async throws {
        let windows = Lock<[UInt8]>([])
        var radio = Radio()
        radio.play = { command in
            if command.opcode == .leSetScanParameters {
                windows.withLock { $0.append(command.parameters[3]) }
            }
            return nil
        }
        let hidden = Radio(privacy: PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60)))
        try await PairedHosts.run(serverRadio: hidden, clientRadio: radio) { hosts in
            let device = try await hosts.connect(to: await hosts.server.privateAddress)
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            await device.disconnect()
            await hosts.server.stopAllAdvertising()
            windows.withLock { $0 = [] }
            let client = hosts.client
            let waiting = Task(executorPreference: client.loop) { () throws(BLEError) in
                try await CentralManager(client).connect(to: hosts.address, timeout: nil)
            }
            try await hosts.pass(.seconds(300))
            // A scan that receives nothing may be restarted.
            let used = windows.withLock { $0 }
            let wanted = [ScanTiming.lowLatency, .balanced].map { Slots($0.window).octet }
            #expect([used.first, used.last] == wanted && Set(used) == Set(wanted))
            let plan = try AdvertisingPlan(AdvertisingContent(), kind: .connectable)
            _ = try await PeripheralManager(hosts.server).advertise(AdvertisingRequest(plan))
            let found = try await waiting.value
            #expect(found.address == hosts.address)
            await found.disconnect()
        }
    }

    /// The link was requested by a private address, and the next one is requested by the identity.
    @Test func connectByIdentityWaitsForEndingLink() async throws {
        let hidden = Radio(privacy: .on)
        try await PairedHosts.run(serverRadio: hidden) { hosts in
            let device = try await hosts.connect(to: await hosts.server.privateAddress)
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            #expect(device.address != hosts.address)
            let client = hosts.client
            let ending = Task(executorPreference: client.loop) { await device.disconnect() }
            let waiting = Task(executorPreference: client.loop) { () throws(BLEError) in
                try await CentralManager(client).connect(to: hosts.address, timeout: nil)
            }
            #expect(try await waiting.value.address == hosts.address)
            await ending.value
        }
    }

    /// A connect waits for the private address of an unknown peer, which then pairs from another address.
    @Test(arguments: radios) func connectByOldPrivateAddressFindsPeer(_ radio: Radio) async throws {
        var hidden = radio
        hidden.privacy = PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60))
        try await PairedHosts.run(serverRadio: hidden, clientRadio: radio) { hosts in
            let old = try #require(await hosts.server.privateAddress)
            try await hosts.pass(.seconds(61))
            let client = hosts.client
            let waiting = Task(executorPreference: client.loop) { () throws(BLEError) in
                try await CentralManager(client).connect(to: old, timeout: nil)
            }
            let device = try await hosts.connect(to: await hosts.server.privateAddress)
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            await device.disconnect()
            #expect(try await waiting.value.address == hosts.address)
        }
    }

    @Test func refusedResolvingListUpdateIsRetried() async throws {
        var busy = Radio(isExtended: true)
        let refusals = Lock(2)
        busy.play = { command in
            guard command.opcode == .leSetAddressResolutionEnable,
                refusals.withLock({
                    $0 -= 1; return $0 >= 0
                })
            else { return nil }
            return [CommandComplete(command.opcode, status: .commandDisallowed).packet]
        }
        let hidden = Radio(isExtended: true, privacy: .on)
        try await PairedHosts.run(serverRadio: hidden, clientRadio: busy) { hosts in
            let device = try await hosts.connect(to: await hosts.server.privateAddress)
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            await device.disconnect()
            #expect(try await hosts.find(by: hosts.client).address?.kind == .resolvable)
            try await hosts.pass(.seconds(25))
            #expect(try await hosts.find(by: hosts.client).address == hosts.address)
        }
    }

    @Test func refusedAddressChangeIsRetried() async throws {
        var busy = Radio(privacy: PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60)))
        let commands = Lock(0)
        // The identity and the first address are set; the second address is refused once.
        busy.play = { command in
            guard command.opcode == .leSetRandomAddress,
                commands.withLock({
                    $0 += 1; return $0
                }) == 3
            else {
                return nil
            }
            return [CommandComplete(command.opcode, status: .commandDisallowed).packet]
        }
        try await PairedHosts.run(serverRadio: busy) { hosts in
            let first = await hosts.server.privateAddress
            try await hosts.pass(.seconds(65))
            #expect(await hosts.server.privateAddress == first)
            #expect(try await hosts.find(by: hosts.client).address == first)
            try await hosts.pass(.seconds(10))
            #expect(await hosts.server.privateAddress != first)
            #expect(try await hosts.find(by: hosts.client).address != first)
        }
    }

    @Test func removedBondMakesPeerUnresolvable() async throws {
        var hidden = Radio(isExtended: true)
        hidden.privacy = .on
        try await PairedHosts.run(serverRadio: hidden, clientRadio: Radio(isExtended: true)) { hosts in
            let device = try await hosts.connect(to: await hosts.server.privateAddress)
            #expect(try await hosts.read(0xaa01, of: device) == [1])
            await device.disconnect()
            #expect(try await hosts.find(by: hosts.client).address == hosts.address)
            try await hosts.client.removeBond(with: hosts.address)
            try await hosts.pass(.seconds(1))
            #expect(try await hosts.find(by: hosts.client).address == hosts.server.privateAddress)
        }
    }

    @Test func onlyPrivateHostDistributesIdentityKey() async throws {
        for options in [PrivacyOptions.off, .on] {
            try await PairedHosts.run(serverRadio: Radio(privacy: options)) { hosts in
                let device = try await hosts.connect(to: await hosts.server.privateAddress ?? hosts.address)
                #expect(try await hosts.read(0xaa01, of: device) == [1])
                let bond = try #require(await hosts.client.bonds.first)
                #expect((bond.peerIdentityKey != nil) == options.isEnabled)
                #expect(bond.peer == hosts.address)
            }
        }
    }

    @Test(arguments: [Duration.zero, .milliseconds(999), .seconds(3601)])
    func outOfRangeAddressLifetimeIsRefused(_ lifetime: Duration) async throws {
        let options = AdapterOptions(privacy: PrivacyOptions(isEnabled: true, addressLifetime: lifetime))
        let refused = await failure { () throws(BLEError) in
            _ = try await Adapter.open(.virtual(name: nil), options: options)
        }
        #expect(
            refused
                == .timeOutOfRange(
                    .privateAddressLifetime, allowed: .seconds(1) ... .seconds(3600), value: lifetime))
    }
}

/// Changes of the controller's list of peers beside searches for periodic trains, during which it may not be changed.
@Suite struct ListAndTrainTests {
    @Test("the list changes after a search, also where the next search waits", arguments: 1...2)
    func listChangesBetweenSearches(trains: Int) async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(extended: true), on: bed.loop)
            let host = try await bed.host("host", on: port)
            var options = PeriodicSyncOptions()
            options.establishing = trains == 1 ? .seconds(20) : nil
            let searches = (1...trains).map { number in
                bed.task { [options] in
                    let absent = DeviceAddress(UInt64(number), type: .public)
                    let train = CentralManager(host).periodicAdvertising(of: absent, set: 1, options: options)
                    for try await _ in train {}
                }
            }
            // A scan goes on after the last search.
            let scan = bed.task { for try await _ in CentralManager(host).scan() {} }
            await bed.wait(.seconds(1))
            port.forget()
            try await host.bondWithHiddenPeer()
            await bed.wait(.seconds(18))
            #expect(!port.opcodes.contains(.leAddDeviceToResolvingList))
            await bed.wait(.seconds(3))
            #expect(port.opcodes.contains(.leAddDeviceToResolvingList))
            for task in searches + [scan] { task.cancel() }
        }
    }
}

extension PairedHosts {
    /// Lets `time` pass, during which the client scans.
    fileprivate func pass(_ time: Duration) async throws {
        _ = try? await CentralManager(client).first(within: time) { _ in false }
    }

    /// Returns the server's advertisement that `host` receives.
    fileprivate func find(by host: Adapter) async throws -> Advertisement {
        try await CentralManager(host).first(within: .seconds(5)) { $0.name == "Secrets" }
    }
}

extension Adapter {
    fileprivate func bondWithHiddenPeer() throws {
        let peer = DeviceAddress(0xc000_0000_0001, type: .random)
        var bond = Bond(
            with: peer, as: identity, PairingStrength(isAuthenticated: true, isSecureConnections: true))
        let key = LongTermKey(1, ediv: 0, random: 0)
        (bond.centralKey, bond.peripheralKey, bond.peerIdentityKey) = (key, key, 2)
        _ = try security.options.bonds.insert(bond)
    }

    fileprivate func forgetPeers() async throws {
        for bond in bonds { try await removeBond(with: bond.peer) }
    }
}

extension Slots {
    /// The lower octet of the number.
    fileprivate var octet: UInt8 { UInt8(rawValue & 0xff) }
}
