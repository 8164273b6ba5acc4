import BLE
import BLEAdvertising
import BLECore
import Glibc
import HCI
import HCISocket
import Testing

@Suite(.timeLimit(.minutes(10))) struct SerialTests {
    /// A host on a serial line, and another host on the same air.
    private struct Bench {
        let line: SerialController
        let serial: Adapter
        let other: Adapter

        var central: CentralManager { CentralManager(serial) }
    }

    /// Runs `body` in real time: the line belongs to the kernel, for which virtual time would not wait.
    private func run(
        _ options: String = "", _ body: @escaping @Sendable (Bench) async throws -> Void
    ) async throws {
        let loop = try EventLoop()
        let outcome = await Task(executorPreference: loop) {
            let air = AirServer(on: loop, seed: 1)
            let line = try await started(SerialController(await air.attach(), on: loop), on: loop)
            let adapters = AdapterOptions(loop: loop)
            let serial = try await Adapter.open(
                try AdapterSpecification("serial:\(line.path)\(options)"), options: adapters)
            let other = try await Adapter.open(on: await air.attach(), name: "other", options: adapters)
            try await body(Bench(line: line, serial: serial, other: other))
            await serial.close()
            await other.close()
            await line.unplug()
            await air.close()
        }.result
        loop.stop()
        try outcome.get()
    }

    private func started(_ line: SerialController, on loop: EventLoop) async throws -> SerialController {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { continuation.resume(with: Result { try line.start() }) }
        }
        return line
    }

    private func advertise(
        _ name: String, on adapter: Adapter, instead of: Advertising? = nil
    ) async throws -> Advertising {
        await of?.stop()
        var content = AdvertisingContent()
        content.name = name
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
        return try await PeripheralManager(adapter).advertise(AdvertisingRequest(plan), maximumLinks: 1)
    }

    @Test("a controller on a serial line scans", arguments: ["", "?baud=1234567&flow=off"])
    func serialControllerScans(options: String) async throws {
        try await run(options) { bench in
            let advertising = try await advertise("Lamp", on: bench.other)
            _ = try await bench.central.first(within: .seconds(10)) { $0.name == "Lamp" }
            #expect(bench.line.resets == 1)
            await advertising.stop()
        }
    }

    @Test("a lost or extra octet causes a reset; scan and advertisement continue", arguments: [false, true])
    func lostOrExtraOctetCausesReset(isExtra: Bool) async throws {
        try await run { bench in
            let mine = try await advertise("Serial", on: bench.serial)
            var found = bench.central.scan().makeAsyncIterator()
            bench.line.alter { packet in
                // An advertising report. The host detects the wrong length when the next one arrives.
                guard packet.starts(with: [0x04, 0x3e]) else { return packet }
                return isExtra ? packet + [0x55] : Array(packet.dropLast())
            }
            let before = try await advertise("Before", on: bench.other)
            await bench.line.resets(reach: 2)
            await before.stop()

            let after = try await advertise("After", on: bench.other)
            while let one = try await found.next(), one.name != "After" {}
            let received = try await CentralManager(bench.other).first(within: .seconds(10)) {
                $0.name == "Serial"
            }
            #expect(received.address == (await bench.serial.address))
            await after.stop()
            await mine.stop()
        }
    }

    @Test("a truncated packet that nothing follows causes a reset as well")
    func truncatedPacketCausesReset() async throws {
        try await run { bench in
            bench.line.alter { $0.starts(with: [0x04, 0x0e]) ? Array($0.dropLast()) : $0 }
            let advertising = try? await advertise("Serial", on: bench.serial)
            await bench.line.resets(reach: 2)
            let again = try await advertise("Again", on: bench.serial, instead: advertising)
            _ = try await CentralManager(bench.other).first(within: .seconds(10)) { $0.name == "Again" }
            await again.stop()
        }
    }

    /// The controller takes the first octets of later commands for those that were lost.
    @Test(
        "a command that loses octets causes Resets until the controller answers; scan and advertisement continue",
        arguments: [1, 6])
    func octetLostToControllerCausesResets(count: Int) async throws {
        try await run { bench in
            var found = bench.central.scan().makeAsyncIterator()
            let before = try await advertise("Before", on: bench.other)
            while let one = try await found.next(), one.name != "Before" {}
            await before.stop()

            bench.line.alterHost { $0[0] == 1 && $0.count > 10 ? Array($0.dropLast(count)) : $0 }
            let advertising = try? await advertise("Serial", on: bench.serial)
            // The first Reset is that of the start; the second one completes the damaged command.
            await bench.line.resets(reach: 3)
            let mine = try await advertise("Again", on: bench.serial, instead: advertising)
            _ = try await CentralManager(bench.other).first(within: .seconds(10)) { $0.name == "Again" }
            let after = try await advertise("After", on: bench.other)
            while let one = try await found.next(), one.name != "After" {}
            await after.stop()
            await mine.stop()
        }
    }

    @Test("a port in use, a missing port and a file that is no serial port have different errors")
    func serialPortErrorsAreDistinct() async throws {
        try await run { bench in
            let options = AdapterOptions(loop: bench.serial.loop)
            func problem(_ path: String) async -> BLEError? {
                await failure { () throws(BLEError) in
                    _ = try await Adapter.open(
                        .serial(path: path, baud: 115_200, flowControl: true), options: options)
                }
            }
            let line = bench.line.path
            // Root may open the port in spite of TIOCEXCL, and is refused because of the lock.
            #expect(await problem(line) == .adapter(.inUse(.serialPort(path: line))))
            let missing = AdapterSpecification.serial(
                path: "/dev/no-such-port", baud: 115_200, flowControl: true)
            #expect(await problem("/dev/no-such-port") == .adapter(.missing(missing)))
            #expect(
                await problem("/dev/null")
                    == .adapter(.notSerial(path: "/dev/null")))
        }
    }

    @Test("an unplugged serial adapter fails as removed")
    func unpluggedAdapterFailsAsRemoved() async throws {
        try await run { bench in
            var found = bench.central.scan().makeAsyncIterator()
            await bench.line.unplug()
            let ended = await failure { () throws(BLEError) in _ = try await found.next() }
            #expect(ended == .adapter(.removed))
        }
    }
}
