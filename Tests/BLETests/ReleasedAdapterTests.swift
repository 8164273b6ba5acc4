import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Adapters that are released without being closed.
@Suite(.timeLimit(.minutes(10))) struct ReleasedAdapterTests {
    private func adapter(_ bed: VirtualTestbed, on port: any PacketPort) async throws -> Adapter {
        try await Adapter.open(on: port, name: "short-lived", options: AdapterOptions(loop: bed.loop))
    }

    @Test("a stream retains the adapter that it comes from") func streamRetainsAdapter() async throws {
        try await VirtualTestbed.run { bed in
            let other = try await bed.host("other")
            _ = try await other.advertise()
            let central = CentralManager(try await adapter(bed, on: await bed.port()))
            let stream = central.scan()
            weak let adapter = central.adapter
            _ = consume central
            await bed.wait(.seconds(1))
            var found: Advertisement?
            for try await each in stream {
                found = each
                break
            }
            #expect(await found?.address == other.address)
            #expect(adapter != nil)
        }
    }

    @Test("a released adapter resets its controller and goes off air", arguments: [false, true])
    func releasedAdapterStopsRadio(isExtended: Bool) async throws {
        try await VirtualTestbed.run { bed in
            let (port, other) = (
                ControlledPort(await bed.port(extended: isExtended), on: bed.loop),
                try await bed.host("other")
            )
            let name = "peer"
            do {
                let adapter = try await adapter(bed, on: port)
                let advertising = try await adapter.advertise()
                _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == name }
                port.forget()
                withExtendedLifetime((adapter, advertising)) {}
            }
            await bed.wait(.seconds(1))
            #expect(port.opcodes == [.reset])
            let gone = await failure { () throws(BLEError) in
                _ = try await CentralManager(other).first(within: .seconds(5)) { $0.name == name }
            }
            #expect(gone == .notFound(.device(within: .seconds(5))))
        }
    }
}
