import BLE
import ExampleSupport

extension TourCentral {
    /// Shares a link, follows connection events, and suspends them.
    func connect() async throws {
        var events = central.connectionEvents().makeAsyncIterator()
        let first = try await central.connect(to: id)
        // Managers of one adapter share its links.
        let second = try await CentralManager(central.adapter).connect(to: id)
        await first.disconnect()
        Program.printLine("a second connect has joined the first, and is \(await second.state) without it")
        await second.disconnect()
        let both = [try await events.next(), try await events.next()]
        Program.printLine("events: \(both.map(word).joined(separator: ", "))")

        central.suspend()
        for _ in 1...2 { await (try await central.connect(to: id)).disconnect() }
        central.resume()
        let last = try await events.next()
        try await central.withConnection(to: id) { _ in
            let next = try await events.next()
            Program.printLine("suspended: of 4 events one came, \(word(last)); the next is \(word(next))")
        }
    }

    /// Connects to a device that is never in range.
    func waitForAbsentDevice() async throws {
        let absent = Peripheral.Identifier(DeviceAddress(0xc0ff_ee00_0001, type: .random))
        let waiting = Task { try await central.connect(to: absent, timeout: nil) }
        var before: PeripheralState
        repeat {
            try await Task.sleep(for: .milliseconds(10))
            before = await central.state(of: absent)
        } while before == .disconnected
        waiting.cancel()
        do { _ = try await waiting.value } catch BLEError.cancelled {
            Program.printLine(
                "a connect without limit: \(before), cancelled, \(await central.state(of: absent))")
        }
        var events = central.connectionEvents().makeAsyncIterator()
        do {
            _ = try await central.connect(to: absent, timeout: .seconds(1))
        } catch {
            switch error {
            case .timedOut(.connecting, _), .connectFailed:
                Program.printLine("a connect with a limit: no link, \(word(try await events.next()))")
            default: throw error
            }
        }
    }

    private func word(_ event: ConnectionEvent?) -> String {
        switch event {
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .failedToConnect: "failed"
        case nil: "none"
        }
    }
}
