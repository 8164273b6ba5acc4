import ATT
import BLE
import BLEAdvertising
import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

/// Tests of scanning, connecting and reading on controllers of the legacy and the extended family of commands.
@Suite struct FamilyTests {
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func scansConnectsAndReadsWithEachCommandFamily(_ server: Bool, _ client: Bool) async throws {
        try await TwoHosts.run(serverExtended: server, clientExtended: client) { hosts in
            let advertising = try await hosts.serveThermometer()
            for _ in 0..<2 {
                let address = try await hosts.find()
                try await hosts.central.withConnection(to: address) { device in
                    let temperature = try await hosts.characteristic(0x2a6e, of: device)
                    #expect(try await device.read(temperature.valueHandle) == [0xb2, 0x08])
                    let long = try await hosts.characteristic(0x2a9f, of: device)
                    #expect(try await device.read(long.valueHandle).count == 300)
                }
            }
            await advertising.stop()
        }
    }
}

/// A controller of both families refuses the one that was not used first (Core Specification 5.4, Vol 4, Part E,
/// 3.1.1).
extension FamilyTests {
    @Test("an option restricts the host to the legacy commands on a controller with both families")
    func optionRestrictsHostToLegacyCommands() async throws {
        try await ScanHosts.run { hosts in
            let port = ControlledPort(await hosts.air.attach(.init(extended: .init())), on: hosts.loop)
            let adapter = try await Adapter.open(
                on: port, name: "quirky",
                options: AdapterOptions(loop: hosts.loop, usesExtendedCommands: false))
            _ = try await hosts.advertiser(named: "Other", extended: true)
            var content = AdvertisingContent()
            content.name = "Quirky"
            let plan = try AdvertisingPlan(content, kind: .connectable)
            _ = try await PeripheralManager(adapter).advertise(AdvertisingRequest(plan))
            let other = try await CentralManager(adapter).first(within: .seconds(5)) { $0.name == "Other" }
            _ = try await hosts.central.first(within: .seconds(5)) { $0.name == "Quirky" }
            try await CentralManager(adapter).withConnection(to: try #require(other.address)) { _ in }
            // The host sends the legacy commands and none of the extended ones.
            #expect(
                Set(port.opcodes).isSuperset(of: [
                    .leSetAdvertisingEnable, .leSetScanEnable, .leCreateConnection,
                ]))
            #expect(
                Set(port.opcodes).isDisjoint(with: [
                    .leReadNumberOfSupportedAdvertisingSets, .leReadMaximumAdvertisingDataLength,
                    .leReadPeriodicAdvertiserListSize, .leSetExtendedAdvertisingEnable,
                    .leSetExtendedScanEnable, .leExtendedCreateConnection,
                ]))
            await adapter.close()
        }
    }

    @Test("a scan of legacy advertising only finds no extended advertising")
    func legacyOnlyScanIgnoresExtendedAdvertising() async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let sender = try await hosts.host(named: "sender", .init(extended: .init()))
            let manager = PeripheralManager(sender)
            _ = try await manager.advertise(try .beacon("old"))
            _ = try await manager.advertise(try .beacon("new", extended: true))
            var options = ScanOptions()
            options.extended = .off
            #expect(Set(try await hosts.receive(options, for: .seconds(1)).map(\.name)) == ["old"])
            options.extended = .on
            #expect(Set(try await hosts.receive(options, for: .seconds(1)).map(\.name)) == ["old", "new"])
        }
    }
}
