import BLE
import ExampleSupport

extension TourCentral {
    /// Receives as many values as the peripheral can send.
    func beFlooded() async throws {
        try await central.withConnection(to: id) { device in
            let flood = try await device.values(of: .tourFlood)
            try await device.write("flood", to: .tourCommand)
            var expected: UInt16 = 1
            for try await number in flood {
                guard number == expected else {
                    Program.printLine(
                        number == 0 ? "a flood came whole" : "\(number) came in place of \(expected)")
                    break
                }
                expected += 1
            }
        }
    }

    /// Writes values until the link is full, and one more value when the link has room again.
    func flood() async throws {
        try await central.withConnection(to: id) { device in
            let sink = try await device.characteristic(.tourSink)
            // On the adapter's own thread, nothing is sent during the loop; on another thread, the radio can
            // be as fast as the loop.
            let count = try await withTaskExecutorPreference(central.adapter.loop) {
                var count: UInt16 = 0
                while count < 1000, try await device.tryWriteWithoutResponse([1, 2, 3], to: sink) {
                    count += 1
                }
                return count
            }
            let wasFull = count < 1000
            try await device.readyToSendWriteWithoutResponse()
            let isReady = await device.canSendWriteWithoutResponse
            try await device.write([4], to: sink, type: .withoutResponse)
            let counted = try await device.read(.tourSink)
            let isAll = counted == count + 1
            Program.printLine(
                "without response: full \(wasFull), then ready \(isReady), all counted \(isAll)")
        }
    }
}
