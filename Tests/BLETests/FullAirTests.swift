import Foundation
import Glibc
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Tests of an air that is full, starts slowly or ends, and of hosts that accept no more packets.
@Suite(.timeLimit(.minutes(10))) struct FullAirTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).air").path

    @Test func fullAirRefusesControllerAndAdmitsItLater() async throws {
        let air = AirServer(on: .shared, seed: 1, maximumControllers: 1)
        _ = try await air.listen(at: .unix(path: path))
        var options = AdapterOptions()
        options.airPath = path
        let first = try await Adapter.open(.virtual(name: nil), options: options)
        let virtual = await failure { () throws(BLEError) in
            _ = try await Adapter.open(.virtual(name: nil), options: options)
        }
        #expect(virtual == .adapter(.hungUp(.airAtOnce)))
        let stream = await failure { () throws(BLEError) in
            _ = try await Adapter.open(.stream(.unix(path: path)))
        }
        #expect(
            stream == .adapter(.hungUp(.streamAtOnce)))
        await first.close()
        await air.idle(for: .zero)
        let second = try await Adapter.open(.virtual(name: nil), options: options)
        await second.close()
        await air.close()
    }

    /// On a busy machine, the air's process can take longer to start than a controller may take for an answer.
    @Test func waitsForSlowlyStartingAir() async throws {
        let air = AirServer(on: .shared, seed: 1)
        var options = AdapterOptions()
        options.airPath = path
        options.airLauncher = AirLauncher { (path, loop) throws(BLEError) in
            do throws(PortError) {
                let (descriptor, _) = try await StreamSockets.bind(to: .unix(path: path))
                Task {
                    _ = await loop.sleep(for: .milliseconds(2500))
                    try await air.listen(on: descriptor)
                }
            } catch {
                throw .port(error)
            }
        }
        let adapter = try await Adapter.open(.virtual(name: "slow"), options: options)
        #expect(await air.population == 1)
        await adapter.close()
        await air.close()
    }

    /// An air ends some time after its last client has left. Another client can join at that moment.
    @Test func airEndingDuringJoinIsReplaced() async throws {
        let (descriptor, _) = try await StreamSockets.bind(to: .unix(path: path))
        Thread.detachNewThread {
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&ready, 1, 60_000)
            let connection = accept(descriptor, nil, nil)
            close(descriptor)
            close(connection)
        }
        let next = AirServer(on: .shared, seed: 1)
        var options = AdapterOptions()
        options.airPath = path
        options.airLauncher = AirLauncher { (path, loop) throws(BLEError) in
            _ = try await next.listen(at: .unix(path: path))
        }
        let adapter = try await Adapter.open(.virtual(name: "late"), options: options)
        #expect(await next.population == 1)
        await adapter.close()
        await next.close()
    }

    @Test("an air that is closed while it begins to listen leaves no socket")
    func airClosedWhileItBeginsToListen() async throws {
        let lock = path + ".lock"
        let held = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(held, LOCK_EX) == 0)
        let air = AirServer(on: .shared, seed: 1)
        let listening = Task { [path] in try await air.listen(at: .unix(path: path)) }
        await air.close()
        unlink(lock)
        close(held)
        await #expect(throws: BLEError.port(.ended)) { try await listening.value }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func idleWaitIsCancellable() async throws {
        try await VirtualTestbed.run { bed in
            _ = try await bed.adapter("client")
            let waiting = Task(executorPreference: bed.loop) { await bed.air.idle(for: .seconds(1)) }
            await bed.wait(.seconds(60))
            waiting.cancel()
            await waiting.value
        }
    }

    @Test func packetsForFullHostAreKeptByController() async throws {
        try await VirtualTestbed.run { bed in
            let host = FullPort()
            await bed.air.join(host, process: nil, .init())
            for _ in 0..<3 { host.command(Reset()) }
            await bed.wait(.seconds(1))
            #expect(host.taken.isEmpty)
            host.makeRoom(for: 2)
            await bed.wait(.seconds(1))
            #expect(host.taken.count == 2)
            host.makeRoom(for: 10)
            await bed.wait(.seconds(1))
            #expect(host.taken.count == 3)
        }
    }

    @Test func callerProvidedPortIsNotReportedAsAir() async throws {
        let ended = try await VirtualTestbed.run { bed in
            let adapter = try await bed.adapter("mine")
            #expect(adapter.name == "mine")
            #expect(adapter.specification == nil)
            await bed.air.close()
            return await failure { () throws(BLEError) in
                _ = try await CentralManager(adapter).first(within: .seconds(1)) { _ in true }
            }
        }
        #expect(ended == .adapter(.hungUp(.port)))
    }
}

/// The port of a host that accepts a limited number of packets.
private final class FullPort: PacketPort, Sendable {
    private struct Shared {
        var handlers: PacketPortHandlers?
        var room = 0
        var taken: [[UInt8]] = []
    }

    private let shared = Lock(Shared())

    var taken: [[UInt8]] { shared.withLock { $0.taken } }

    /// Sends a command from the host to its controller.
    func command(_ command: some HCICommand) {
        let octets = HCIPacket.command(command.packet).encoded
        shared.withLock { $0.handlers }?.receive(octets.span)
    }

    func makeRoom(for count: Int) {
        shared.withLock {
            $0.room = count
            return $0.handlers
        }?.writable()
    }

    var isWritable: Bool { shared.withLock { $0.room > 0 } }

    func start(_ handlers: PacketPortHandlers) { shared.withLock { $0.handlers = handlers } }

    func send(_ packet: Span<UInt8>) {
        let octets = (0..<packet.count).map { packet[$0] }
        shared.withLock {
            $0.room -= 1
            $0.taken.append(octets)
        }
    }

    func close() { shared.withLock { $0.handlers = nil } }
}
