import BLECore
import Glibc
import HCISocket
import Testing

@testable import bletool

/// The minute in which one bonded device may pair again with a server.
struct PairingWindowTests {
    private static let (phone, other) = (
        DeviceAddress(0xc0aa_0000_0001, type: .random), DeviceAddress(0xc0aa_0000_0002, type: .random)
    )

    /// Runs `body` on a loop in virtual time with a window, and returns the events.
    private func run(
        _ body: @escaping @Sendable (PairingWindow, EventLoop) async -> Void
    ) async throws -> [String] {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        let loop = try EventLoop(name: "window", clock: .virtual)
        let window = PairingWindow(on: loop)
        window.serverIsReady(Console(isJSON: false, output: LineWriter(ends[1])))
        await Task(executorPreference: loop) { await body(window, loop) }.value
        loop.stop()
        close(ends[1])
        defer { close(ends[0]) }
        var octets = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &octets, octets.count)
        return String(decoding: octets.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map {
            String($0.split(separator: "pairing window  ").last ?? $0)
        }
    }

    private static let (opened, closed) = (
        "one bonded device may pair again within 1m", "no bonded device has paired again"
    )

    @Test("the window closes after a minute, which a second signal begins again")
    func windowEnds() async throws {
        let events = try await run { window, loop in
            window.open()
            _ = await loop.sleep(for: .seconds(40))
            window.open()
            _ = await loop.sleep(for: .seconds(59))
            #expect(window.take(for: Self.phone))
            window.failed(Self.phone)
            _ = await loop.sleep(for: .seconds(2))
            #expect(!window.take(for: Self.phone))
            _ = await loop.sleep(for: .seconds(60))
        }
        #expect(events == [Self.opened, Self.opened, Self.closed])
    }

    @Test("one device takes the window, and a failed pairing gives it back for the rest of the time")
    func failureGivesWindowBack() async throws {
        let events = try await run { window, loop in
            #expect(!window.take(for: Self.phone))
            window.open()
            #expect(window.take(for: Self.phone))
            #expect(!window.take(for: Self.other))
            window.failed(Self.other)
            #expect(!window.take(for: Self.other))
            window.failed(Self.phone)
            #expect(window.take(for: Self.other))
            // The time ends while a device pairs, which is then let finish.
            _ = await loop.sleep(for: .seconds(61))
            window.failed(Self.other)
            #expect(!window.take(for: Self.phone))
            window.open()
            #expect(window.take(for: Self.phone))
            _ = await loop.sleep(for: .seconds(61))
            window.bonded(Self.phone)
            #expect(!window.take(for: Self.phone))
        }
        #expect(
            events == [Self.opened, Self.closed, Self.opened, "\(Self.phone.text) has paired again"])
    }
}
