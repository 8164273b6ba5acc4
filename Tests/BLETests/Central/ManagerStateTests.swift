import BLE
import BLECore
import HCI
import HCISocket
import Testing

/// The states of managers, which follow the state of their adapter.
struct ManagerStateTests {
    @Test func failedControllerResetsAndPowersOn() async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            try await host.open { adapter in
                let central = CentralManager(adapter)
                #expect(central.state == .poweredOn)
                var states = central.states().makeAsyncIterator()
                let state1 = try await states.next()
                #expect(state1 == .poweredOn)
                host.port.script(.leSetScanEnable, .silence, times: 1)
                let scan = central.scan()
                let state2 = try await states.next()
                #expect(state2 == .resetting)
                #expect(central.state == .resetting)
                try await adapter.untilPoweredOn()
                let state3 = try await states.next()
                #expect(state3 == .poweredOn)
                #expect(PeripheralManager(adapter).state == .poweredOn)
                _ = scan
            }
            await lamp.close()
        }
    }

    @Test("a resumed manager reports only the last state")
    func resumedManagerReportsLastState() async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            try await host.open { adapter in
                let (central, other) = (CentralManager(adapter), CentralManager(adapter))
                var states = central.states().makeAsyncIterator()
                let first = try await states.next()
                #expect(first == .poweredOn)
                central.suspend()
                host.port.script(.leSetScanEnable, .silence, times: 1)
                let scan = central.scan()
                for try await state in other.states() where state == .resetting { break }
                try await adapter.untilPoweredOn()
                central.resume()
                let next = try await states.next()
                #expect(next == .poweredOn, "that it was resetting is over")
                _ = scan
            }
            await lamp.close()
        }
    }

    @Test func lastStateIsFollowedByReason() async throws {
        try await VirtualTestbed.run { bed in
            let host = try await bed.host("host")
            var states = CentralManager(host).states().makeAsyncIterator()
            let state4 = try await states.next()
            #expect(state4 == .poweredOn)
            await host.close()
            let state5 = try await states.next()
            #expect(state5 == .poweredOff)
            let end = await failure { () throws(BLEError) in
                _ = try await states.next()
            }
            #expect(end == .adapter(.closed))
            #expect(CentralManager(host).state == .poweredOff)
            // A later subscriber receives the same state.
            var late = host.states().makeAsyncIterator()
            let state6 = try await late.next()
            #expect(state6 == .poweredOff)
            let waited = await failure { () throws(BLEError) in try await host.untilPoweredOn() }
            #expect(waited == .adapter(.closed))
        }
    }

    @Test(arguments: [
        (BLEError.permission(.netRaw, for: .connect), ManagerState.unauthorized),
        (.adapter(.isolated), .unauthorized), (.adapter(.inUse(.process(7))), .unauthorized),
        (.adapter(.missing(.kernel(.index(0)))), .unsupported), (.adapter(.removed), .unsupported),
        (.adapter(.noBluetooth), .unsupported), (.adapter(.unsupported(.lowEnergy)), .unsupported),
        (.adapter(.blocked(.hardware)), .poweredOff), (.adapter(.poweredOff), .poweredOff),
        (.adapter(.cannotPower(0, .management(.failed))), .poweredOff), (.adapter(.closed), .poweredOff),
        (.adapter(.failed(.lineLost)), .unknown), (.adapter(.hungUp(.air)), .unknown),
        (.managementRefused(.listAdapters, .busy), .unsupported), (.cancelled, .unknown),
    ])
    func openErrorMapsToManagerState(_ error: BLEError, _ state: ManagerState) {
        #expect(error.managerState == state)
    }
}
