import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Tests of the options of an adapter.
@Suite(.timeLimit(.minutes(10))) struct AdapterOptionsTests {
    @Test("transport faults of the options delay and drop packets of a named transport")
    func transportFaultsApplyToNamedTransport() async throws {
        try await VirtualTestbed.run { bed in
            let address = try await bed.air.listen(at: .tcp(host: "127.0.0.1", port: 0))
            var options = AdapterOptions(loop: bed.loop)
            let start = bed.loop.now
            await (try await Adapter.open(.stream(address), options: options)).close()
            #expect(bed.loop.now < start + .milliseconds(200))
            options.transportFaults = [.delay(.milliseconds(10) ... .milliseconds(20))]
            // The set-up takes more than a dozen commands. Each command and each answer is delayed.
            let slow = bed.loop.now
            await (try await Adapter.open(.stream(address), options: options)).close()
            #expect(bed.loop.now > slow + .milliseconds(200))
            options.transportFaults = [.delay(.zero ... .milliseconds(5)), .loss(1)]
            let error = await failure { [options] () throws(BLEError) in
                _ = try await Adapter.open(.stream(address), options: options)
            }
            #expect(error == .controllerSilent(command: .reset))
        }
    }

    @Test("a kernel adapter refuses transport faults before it changes anything")
    func kernelAdapterRefusesTransportFaults() async throws {
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(.init(publicAddress: FakeKernel.address))
            let kernel = try FakeKernel(controller, on: bed.loop, extended: false, isOff: true)
            var options = AdapterOptions(loop: bed.loop)
            options.kernel = kernel
            options.transportFaults = [.loss(0.5)]
            let error = await failure { [options] () throws(BLEError) in
                _ = try await Adapter.open(.kernel(.index(FakeKernel.index)), options: options)
            }
            #expect(error == .adapter(.unsupported(.transportFaults)))
            #expect(kernel.commands.isEmpty && kernel.openSockets == 0)
        }
    }

    @Test("a scan remembers as many devices as its options allow", arguments: [0, 1, 3, 8])
    func scanRemembersLimitedDevices(limit: Int) async throws {
        try await VirtualTestbed.run { bed in
            for number in 0..<5 {
                let lamp = try await bed.adapter("lamp \(number)")
                _ = try await PeripheralManager(lamp).advertise(.beacon("Lamp \(number)"))
            }
            var options = AdapterOptions()
            options.rememberedDevices = limit
            let scanner = try await bed.adapter("scanner", options: options)
            var names: Set<String?> = []
            for try await found in CentralManager(scanner).scan() {
                names.insert(found.name)
                if names.count == 5 { break }
            }
            let statistics = await scanner.scanStatistics
            #expect(statistics.devices == min(max(limit, 1), 5))
            #expect((statistics.evictions > 0) == (limit < 5))
        }
    }

    @Test("the RSSI between hosts follows their distance")
    func rssiFollowsDistance() async throws {
        try await VirtualTestbed.run { bed in
            let lamp = try await bed.adapter("lamp")
            let scanner = try await bed.adapter("scanner")
            _ = try await PeripheralManager(lamp).advertise(.beacon("Lamp"))
            let central = CentralManager(scanner)
            await bed.move(scanner, to: AirPosition(x: 1, y: 2))
            for (meters, rssi) in [(1.0, -40), (10, -60), (100, -80)] as [(Double, Int8)] {
                await bed.move(lamp, to: AirPosition(x: 1, y: 2, z: meters))
                #expect(try await central.first(within: .seconds(5)) { $0.name == "Lamp" }.rssi == rssi)
            }
            await bed.move(lamp, to: AirPosition(x: 2000))
            let error = await failure { () throws(BLEError) in
                _ = try await central.first(within: .seconds(5)) { $0.name == "Lamp" }
            }
            #expect(error == .notFound(.device(within: .seconds(5))))
        }
    }
}
