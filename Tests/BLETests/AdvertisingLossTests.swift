import BLE
import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

/// Tests that an advertisement that went off air goes on air again, or that its caller receives an error.
@Suite(.timeLimit(.minutes(10))) struct AdvertisingLossTests {
    /// A server on a controller whose answers a test can replace, and two centrals.
    private struct Hosts: Sendable {
        let bed: VirtualTestbed
        let port: ControlledPort
        let server: Adapter
        let centrals: [Adapter]
        let isExtended: Bool

        /// Makes the controller refuse the next `times` commands that enable advertising.
        func refuse(_ times: Int, _ status: HCIStatus = .commandDisallowed) {
            let enable: HCIOpcode =
                isExtended ? .leSetExtendedAdvertisingEnable : .leSetAdvertisingEnable
            let left = Lock(times)
            port.play { command in
                guard command.opcode == enable, command.parameters.first == 1 else { return nil }
                let isRefused = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                return isRefused ? [CommandComplete(enable, status: status).packet] : nil
            }
        }

        func connect(_ number: Int, within limit: Duration = .seconds(1)) async throws -> Peripheral {
            try await centrals[number].connect(to: server, timeout: limit)
        }
    }

    private func run(
        extended isExtended: Bool, _ body: @escaping @Sendable (Hosts) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let port = ControlledPort(await bed.port(extended: isExtended), on: bed.loop)
            try await body(
                Hosts(
                    bed: bed, port: port, server: try await bed.host("server", on: port),
                    centrals: [try await bed.host("one"), try await bed.host("two")], isExtended: isExtended))
        }
    }

    @Test(
        "a central that waited before the server started does not end its advertising",
        arguments: [false, true])
    func waitingCentralDoesNotEndAdvertising(isExtended: Bool) async throws {
        try await run(extended: isExtended) { hosts in
            let first = hosts.bed.task { try await hosts.connect(0, within: .seconds(60)) }
            await hosts.bed.wait(.seconds(1))
            try await hosts.server.serve(maximumLinks: 8)
            let device = try await first.value
            let second = try await hosts.connect(1)
            await second.disconnect()
            await device.disconnect()
            _ = try await hosts.connect(1)
        }
    }

    @Test("refused advertising is retried while a link exists", arguments: [false, true])
    func retriesRefusedAdvertisingBesideLink(isExtended: Bool) async throws {
        try await run(extended: isExtended) { hosts in
            try await hosts.server.serve(maximumLinks: 8)
            hosts.refuse(3)
            let first = try await hosts.connect(0)
            let before = hosts.bed.loop.now
            let second = try await hosts.connect(1, within: .seconds(20))
            #expect(before.duration(until: hosts.bed.loop.now) > .seconds(6), "after 1, 2 and 4 s")
            await second.disconnect()
            // Refused advertising is retried as long as the link exists, and at once when the link ends.
            hosts.refuse(.max)
            await hosts.bed.wait(.seconds(300))
            let third = hosts.bed.task { try await hosts.connect(1, within: .seconds(1000)) }
            await hosts.bed.wait(.seconds(30))
            hosts.port.play(nil)
            await first.disconnect()
            _ = try await third.value
        }
    }

    @Test(
        "refused advertising is retried without a link and then fails with the reason",
        arguments: [false, true])
    func retriesRefusedAdvertisingThenFails(isExtended: Bool) async throws {
        try await run(extended: isExtended) { hosts in
            let advertising = try await hosts.server.serve()
            for refusals in [2, 7] {
                let device = try await hosts.connect(0)
                hosts.refuse(refusals)
                await device.disconnect()
                guard refusals == 7 else {
                    _ = try await hosts.connect(1, within: .seconds(20)).disconnect()
                    continue
                }
                let error = await failure { () throws(BLEError) in try await advertising.ended() }
                guard case .hci(.commandDisallowed, _)? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test("advertising that is refused at the start fails at once", arguments: [false, true])
    func advertisingRefusedAtStartFailsAtOnce(isExtended: Bool) async throws {
        try await run(extended: isExtended) { hosts in
            hosts.refuse(1, .invalidCommandParameters)
            let error = await failure { () throws(BLEError) in
                _ = try await PeripheralManager(hosts.server).advertise(AdvertisingRequest(.empty))
            }
            guard case .hci(.invalidCommandParameters, _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
