import BLE
import BLEAdvertising
import BLECore
import GATTServer
import HCISocket
import Testing

@testable import bletool

/// The values of `notify:` in a served file.
struct ServedValueTests {
    @Test("a central that does not confirm delays no other central and is reported once")
    func unconfirmedIndicationDelaysNoOtherCentral() async throws {
        let yaml = """
            services:
              - uuid: 1809
                characteristics:
                  - {uuid: 2a1c, properties: [indicate], notify: {every: 1s, counter: u8}}
            """
        let configuration = try configuration(yaml)
        let (messages, errors) = (Lock<[String]>([]), LineWriter(-1))
        errors.divert { line in messages.withLock { $0.append(line) } }
        let console = Console(isJSON: false, errors: errors)
        try await VirtualTestbed.run { bed in
            let host = try await bed.adapter("server")
            let manager = PeripheralManager(host)
            let server = ConfiguredServer(
                configuration: configuration, manager: manager, console: console)
            try await server.publish()
            let request = AdvertisingRequest(
                try AdvertisingPlan(AdvertisingContent(), kind: .connectable))
            _ = try await manager.advertise(request, maximumLinks: 2)
            let sending = Task(executorPreference: bed.loop) { await server.sendValues() }

            // The client confirms a value when its consumer has taken it, but this consumer takes none.
            let late = try await values(of: host, by: try await bed.adapter("late"), .whenTaken)
            var prompt = try await values(of: host, by: try await bed.adapter("prompt"), .whenQueued)
                .makeAsyncIterator()
            let first = try #require(try await prompt.next()?.value.first)
            let start = bed.loop.now
            for expected in (first + 1)...(first + 10) {
                let value = try await prompt.next()
                #expect(value?.value == [expected])
            }
            #expect(start.duration(until: bed.loop.now) < .seconds(11))
            sending.cancel()
            await sending.value
            withExtendedLifetime(late) {}
        }
        let notes = messages.withLock { $0 }.filter { $0.contains("has not accepted the last value") }
        #expect(notes.count == 1)
    }

    /// Connects `client` to `server`, subscribes, and returns the indications that the client receives.
    private func values(
        of server: Adapter, by client: Adapter, _ confirmation: IndicationConfirmation
    ) async throws -> BoundedStream<ReceivedValue> {
        let device = try await CentralManager(client).connect(to: await server.address)
        let characteristic = try #require(try await device.discover().characteristics(0x2a1c).first)
        return try await device.values(of: characteristic, indications: true, confirming: confirmation)
    }
}
