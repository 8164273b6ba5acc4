import ATT
import BLE
import BLECore
import GATTClient
import GATTServer
import HCISocket
import Testing

struct LargeValueTests {
    @Test func partsArriveInOrderAndReportProgress() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect(mtu: .default)
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let data = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
            let progress = Lock<[ChunkProgress]>([])
            port.forget()
            try await device.write(data, to: value, inPartsOf: nil) { done in
                progress.withLock { $0.append(done) }
            }
            // The response to this read arrives after all parts.
            _ = try await device.read(value)
            let parts = port.received.filter { $0[0] == 0x52 }.map { $0.dropFirst(3) }
            #expect(parts.count == 250 && parts.allSatisfy { $0.count == 20 })
            #expect(Array(parts.joined()) == data)
            #expect(progress.withLock { $0.map(\.written) } == (1...250).map { $0 * 20 })
            #expect(progress.withLock { $0.last?.total } == 5000)
            await device.disconnect()
        }
    }

    @Test func creditsLimitUnansweredParts() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let gate = Gate()
            port.forget()
            let write = Task(executorPreference: hosts.loop) {
                try await device.write(
                    [1, 2, 3, 4, 5], to: value, inPartsOf: 1,
                    .credits(initial: 2) { () throws(BLEError) in await gate.wait() })
            }
            _ = await hosts.loop.sleep(for: .milliseconds(100))
            #expect(port.received.filter { $0[0] == 0x52 }.map { $0[3] } == [1, 2])
            await gate.open(1)
            _ = await hosts.loop.sleep(for: .milliseconds(100))
            #expect(port.received.filter { $0[0] == 0x52 }.map { $0[3] } == [1, 2, 3])
            await gate.open(5)
            try await write.value
            _ = try await device.read(value)
            #expect(port.received.filter { $0[0] == 0x52 }.map { $0[3] } == [1, 2, 3, 4, 5])
            await device.disconnect()
        }
    }

    @Test func partsCanBeWrittenWithResponse() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            port.forget()
            try await device.write([1, 2, 3], to: value, inPartsOf: 2, .withResponse)
            #expect(port.received.map { $0.dropFirst(3) } == [[1, 2], [3]])
            #expect(port.received.allSatisfy { $0[0] == 0x12 })
            let tooLong = await failure { () throws(BLEError) in
                try await device.write([UInt8](repeating: 0, count: 600), to: value, inPartsOf: 515)
            }
            #expect(
                tooLong
                    == .limit(.value(.writeCommand), maximum: 514, value: 515)
            )
            await device.disconnect()
        }
    }

    @Test func multipleReadFallsBackOnOlderServers() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect(mtu: .default)
            let database = try await device.discover()
            let (one, two) = (
                try #require(database.characteristics(Sample.value).first),
                try #require(database.characteristics(Sample.other).first)
            )
            let (first, second) = ([UInt8](0..<30), [UInt8](40..<45))
            try await device.write(first, to: one)
            try await device.write(second, to: two)
            let both =
                [RemoteValue(handle: one.valueHandle, value: first, length: 30)]
                + [RemoteValue(handle: two.valueHandle, value: second, length: 5)]
            // The first value fills the response.
            #expect(try await device.read([one, two]) == .separate(both))
            // Both values fit.
            try await device.write([1], to: one)
            port.forget()
            let small = [RemoteValue(handle: one.valueHandle, value: [1], length: 1), both[1]]
            #expect(try await device.read([one, two]) == .separate(small))
            #expect(port.received.map { $0[0] } == [0x20])
            // A server without Read Multiple Variable Length, then one without Read Multiple.
            port.alter { $0[0] == 0x21 ? [[0x01, 0x20, 0, 0, 0x06]] : [$0] }
            #expect(try await device.read([one, two]) == .joined([1] + second))
            try await device.write(first, to: one)
            #expect(try await device.read([one, two]) == .joined(first + second))
            port.alter {
                [0x0f, 0x21].contains($0[0]) ? [[0x01, $0[0] - 1, 0, 0, 0x06]] : [$0]
            }
            #expect(try await device.read([one, two]) == .separate(both))
            #expect(try await device.read([two]) == .separate([both[1]]))
            #expect(try await device.read([RemoteCharacteristic]()) == .separate([]))
            await device.disconnect()
        }
    }
}

/// An actor that passes numbers to a caller that waits for them.
private actor Gate {
    private var waiting: CheckedContinuation<Int, Never>?
    private var numbers: [Int] = []

    func wait() async -> Int {
        if !numbers.isEmpty { return numbers.removeFirst() }
        return await withCheckedContinuation { waiting = $0 }
    }

    func open(_ number: Int) {
        guard let waiting else { return numbers.append(number) }
        self.waiting = nil
        waiting.resume(returning: number)
    }
}
