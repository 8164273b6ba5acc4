import BLE
import BLECore
import HCI
import Testing
import VirtualController

/// Several scans, of which one requires parameters that the controller refuses.
@Suite(.timeLimit(.minutes(10))) struct RefusedScanTests {
    @Test("only the scan that requested the refused PHY ends", arguments: [false, true])
    func refusedPHYEndsOnlyItsScan(atOnce: Bool) async throws {
        try await ScanHosts.run { hosts in
            let port = ControlledPort(await hosts.air.attach(.init(extended: .init())), on: hosts.loop)
            let adapter = try await Adapter.open(on: port, options: AdapterOptions(loop: hosts.loop))
            let central = CentralManager(adapter)
            // Bit 2 of the PHYs, behind address type and filter policy: LE Coded.
            port.play { command in
                guard command.opcode == .leSetExtendedScanParameters, command.parameters[2] & 4 != 0 else {
                    return nil
                }
                return [CommandComplete(command.opcode, status: .invalidCommandParameters).packet]
            }
            let plain = central.scan()
            let following = Task(executorPreference: hosts.loop) {
                for try await found in plain where found.name == "Late" { return true }
                return false
            }
            if !atOnce { _ = await hosts.loop.sleep(for: .seconds(1)) }
            var options = ScanOptions()
            options.phys = [.le1M, .leCoded]
            let coded = central.scan(options)
            let refused = await failure { () throws(BLEError) in for try await _ in coded {} }
            #expect(refused == .hci(.invalidCommandParameters, command: .leSetExtendedScanParameters))
            _ = try await hosts.advertiser(named: "Late")
            #expect(try await following.value)
            await adapter.close()
        }
    }

    @Test(
        "a scan on no PHY or on LE 2M is refused before it reaches the controller",
        arguments: [
            ([], .invalidRequest(.noPHY)), ([.le1M, .le2M], .invalidRequest(.scanning(on: .le2M))),
        ] as [(Set<PHY>, BLEError)])
    func invalidPHYsAreRefused(_ phys: Set<PHY>, _ error: BLEError) async throws {
        try await ScanHosts.run { hosts in
            hosts.forget()
            var options = ScanOptions()
            options.phys = phys
            let nowhere = hosts.central.scan(options)
            #expect(await failure { () throws(BLEError) in for try await _ in nowhere {} } == error)
            #expect(hosts.commands.isEmpty)
        }
    }
}
