import ATT
import BLE
import BLECore
import GATTClient
import GATTServer
import HCISocket
import Testing

struct NotificationTests {
    @Test func valuesBeforeDiscoveryReachStream() async throws {
        try await TwoHosts.altered { hosts, port in
            let handle = try #require(await hosts.peripheral.valueHandle(of: Sample.value))
            let device = try await hosts.connect()
            port.inject([0x1b] + handle.wire + [7])
            port.inject([0x1d] + handle.wire + [8])
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            // There is no subscription, so the indication was confirmed at once.
            #expect(port.hasReceived([0x1e]))
            port.inject([0x1b] + handle.wire + [9])
            let values = try await device.values(of: value)
            try await hosts.peripheral.update(handle, to: [10])
            var yielded: [ReceivedValue] = []
            for try await value in values {
                yielded.append(value)
                if yielded.count == 4 { break }
            }
            #expect(yielded.map(\.value) == [[7], [8], [9], [10]])
            #expect(yielded.map(\.isIndication) == [false, true, false, false])
            await device.disconnect()
        }
    }

    @Test("one stream has the values of several characteristics in the order of arrival")
    func valuesOfSeveralCharacteristicsKeepOrder() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let handles = [
                try #require(await hosts.peripheral.valueHandle(of: Sample.value)),
                try #require(await hosts.peripheral.valueHandle(of: Sample.other)),
            ]
            // These come before the subscription, even before the discovery.
            for number in 0..<4 { port.inject([0x1b] + handles[number % 2].wire + [UInt8(number)]) }
            let database = try await device.discover()
            let all = [Sample.other, Sample.value, Sample.value].flatMap { database.characteristics($0) }
            let stream = try await device.values(of: all)
            for number in 4..<40 {
                try await hosts.peripheral.update(handles[number % 3 == 0 ? 0 : 1], to: [UInt8(number)])
            }
            var values: [ReceivedValue] = []
            while values.count < 40, let value = try await stream.next(within: .seconds(5)) {
                values.append(value)
            }
            #expect(values.map(\.value) == (0..<40).map { [UInt8($0)] })
            #expect(values.dropFirst(4).map(\.handle) == (4..<40).map { handles[$0 % 3 == 0 ? 0 : 1] })
            #expect(values.map(\.received) == values.map(\.received).sorted())
            await device.disconnect()
        }
    }

    @Test("indications of several characteristics in one stream are confirmed when they are taken")
    func indicationsInOneStreamAreConfirmedWhenTaken() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let database = try await device.discover()
            let all = [Sample.value, Sample.other].flatMap { database.characteristics($0) }
            let stream = try await device.values(of: all, indications: true, confirming: .whenTaken)
            for characteristic in all {
                let updated = Task(executorPreference: hosts.loop) {
                    try await hosts.peripheral.update(characteristic.valueHandle, to: [9])
                }
                _ = await hosts.loop.sleep(for: .seconds(5))
                #expect(!port.hasReceived([0x1e]))
                #expect(try await stream.next(within: .zero)?.handle == characteristic.valueHandle)
                _ = try await updated.value
                #expect(port.hasReceived([0x1e]))
                port.forget()
            }
            await device.disconnect()
        }
    }

    @Test("a subscription that fails ends those of the same stream")
    func failedSubscriptionEndsOthers() async throws {
        try await TwoHosts.altered { hosts, _ in
            let device = try await hosts.connect()
            let database = try await device.discover()
            let all = [Sample.value, Sample.secret].flatMap { database.characteristics($0) }
            let refused = await failure { () throws(BLEError) in _ = try await device.values(of: all) }
            #expect(refused == .invalidRequest(.notSubscribable(Sample.secret, indications: false)))
            let none = await failure { () throws(BLEError) in
                _ = try await device.values(of: [RemoteCharacteristic]())
            }
            #expect(none == .invalidRequest(.nothingToSubscribe))
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(await hosts.peripheral.subscribers(of: all[0].valueHandle) == [])
            await device.disconnect()
        }
    }

    @Test("values of a characteristic without a configuration are received on request")
    func valuesWithoutConfiguration() async throws {
        try await TwoHosts.altered { hosts, port in
            // The configurations have the type of user descriptions.
            port.alter { frame in
                guard frame[0] == 0x05 else { return [frame] }
                var altered = frame
                // Each entry consists of a handle and a 16-bit UUID.
                for at in stride(from: 4, to: frame.count - 1, by: 4)
                where frame[at...(at + 1)] == [0x02, 0x29] {
                    altered[at] = 0x01
                }
                return [altered]
            }
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let refused = await failure { () throws(BLEError) in _ = try await device.values(of: value) }
            #expect(refused == .peerMisbehaved(.missingConfiguration(Sample.value)))
            port.forget()
            let values = try await device.values(of: value, requiringConfiguration: false)
            port.inject([0x1b] + value.valueHandle.wire + [7])
            for try await received in values {
                #expect(received.value == [7] && received.handle == value.valueHandle)
                break
            }
            #expect(!port.hasReceived([0x12]))
            await device.disconnect()
        }
    }

    @Test("a write without response that the characteristic does not offer is an error")
    func unofferedCommandIsRefused() async throws {
        try await TwoHosts.altered { hosts, _ in
            let device = try await hosts.connect()
            let secret = try #require(try await device.discover().characteristics(Sample.secret).first)
            let expected = BLEError.invalidRequest(.noWriteWithoutResponse(secret.valueHandle))
            let written = await failure { () throws(BLEError) in
                try await device.writeWithoutResponse([1], to: secret)
            }
            let tried = await failure { () throws(BLEError) in
                _ = try await device.tryWriteWithoutResponse([1], to: secret)
            }
            #expect(written == expected && tried == expected)
            // The caller answers for a bare handle.
            try await device.writeWithoutResponse([1], to: secret.valueHandle)
            await device.disconnect()
        }
    }

    @Test func slowReaderOverflowsOnlyItsStream() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let database = try await device.discover()
            let (one, two) = (
                try #require(database.characteristics(Sample.value).first),
                try #require(database.characteristics(Sample.other).first)
            )
            let few = try await device.values(of: one, buffer: .overflow(limit: 3))
            let small = try await device.values(of: one, buffer: .overflow(limit: 99, octets: 5))
            let newest = try await device.values(of: one, buffer: .newest(2))
            let others = try await device.values(of: two)
            for number in 1...5 {
                try await hosts.peripheral.update(one.valueHandle, to: [UInt8(number), 0])
            }
            try await hosts.peripheral.update(two.valueHandle, to: [6])
            #expect(try await device.read(one) == [5, 0])
            let (fewValues, fewEnd) = await drain(few)
            #expect(fewValues == [[1, 0], [2, 0], [3, 0]])
            #expect(fewEnd == .overflow(.values(3)))
            let (smallValues, smallEnd) = await drain(small)
            #expect(smallValues == [[1, 0], [2, 0]])
            #expect(smallEnd == .overflow(.octets(5)))
            #expect(newest.dropped == 3)
            let (newestValues, _) = await drain(newest, 2)
            #expect(newestValues == [[4, 0], [5, 0]])
            let (othersValues, _) = await drain(others, 1)
            #expect(othersValues == [[6]])
            await device.disconnect()
        }
    }

    @Test func standardBufferHolds1024Values() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let values = try await device.values(of: value)
            for number in 0...1024 {
                try await hosts.peripheral.update(value.valueHandle, to: [UInt8(truncatingIfNeeded: number)])
            }
            _ = try await device.read(value)
            let (yielded, end) = await drain(values)
            #expect(yielded == (0..<1024).map { [UInt8(truncatingIfNeeded: $0)] })
            #expect(end == .overflow(.values(1024)))
            #expect(BufferPolicy.standard == .overflow(limit: 1024, octets: 262_144))
            await device.disconnect()
        }
    }

    @Test func indicationIsConfirmedWhenTaken() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let values = try await device.values(of: value, indications: true, confirming: .whenTaken)
            let eager = try await device.values(of: value, indications: true)
            let (first, second) = (
                Task(executorPreference: hosts.loop) {
                    try await hosts.peripheral.update(value.valueHandle, to: [1])
                },
                Task(executorPreference: hosts.loop) {
                    try await hosts.peripheral.update(value.valueHandle, to: [2])
                }
            )
            var eagerly = eager.makeAsyncIterator()
            #expect(try await eagerly.next()?.value == [1])
            // The response arrives although the indication is not confirmed yet.
            #expect(try await device.read(value).count == 1)
            #expect(!port.hasReceived([0x1e]))
            var iterator = values.makeAsyncIterator()
            #expect(try await iterator.next()?.value == [1])
            #expect(try await first.value.count == 1)
            #expect(try await iterator.next()?.value == [2])
            #expect(try await second.value.count == 1)
            #expect(port.received.count { $0 == [0x1e] } == 2)
            await device.disconnect()
        }
    }

    @Test func untakenIndicationIsConfirmedBefore30Seconds() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let values = try await device.values(of: value, indications: true, confirming: .whenTaken)
            let update = Task(executorPreference: hosts.loop) {
                try await hosts.peripheral.update(value.valueHandle, to: [1])
            }
            _ = await hosts.loop.sleep(for: .milliseconds(24_900))
            #expect(!port.hasReceived([0x1e]))
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(port.received.count { $0 == [0x1e] } == 1)
            #expect(try await update.value.count == 1)
            let (yielded, _) = await drain(values, 1)
            #expect(yielded == [[1]])
            _ = try await device.read(value)
            #expect(port.received.count { $0 == [0x1e] } == 1)
            await device.disconnect()
        }
    }

    @Test func releasedStreamConfirmsPendingIndication() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let update: Task<[Central], any Error>
            do {
                let values = try await device.values(of: value, indications: true, confirming: .whenTaken)
                update = Task(executorPreference: hosts.loop) {
                    try await hosts.peripheral.update(value.valueHandle, to: [1])
                }
                _ = try await device.read(value)
                #expect(!port.hasReceived([0x1e]))
                withExtendedLifetime(values) {}
            }
            #expect(try await update.value.count == 1)
            await device.disconnect()
        }
    }

    @Test func truncatedValueIsCompletedByRead() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect(mtu: .default)
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let values = try await device.values(of: value, completing: true)
            let cut = try await device.values(of: value)
            let long = [UInt8](0..<50)
            try await hosts.peripheral.update(value.valueHandle, to: long, truncating: true)
            let (yielded, _) = await drain(values, 1)
            #expect(yielded == [long])
            for try await value in cut {
                #expect(value.value == Array(long.prefix(20)) && value.mayBeTruncated)
                break
            }
            // The value that is read does not begin with the notified part, so the two are not combined.
            port.inject([0x1b] + value.valueHandle.wire + [UInt8](repeating: 9, count: 20))
            port.inject([0x1b] + value.valueHandle.wire + [9])
            let again = try await device.values(of: value, completing: true)
            port.inject([0x1b] + value.valueHandle.wire + [UInt8](repeating: 9, count: 20))
            port.inject([0x1b] + value.valueHandle.wire + [9])
            let (changed, _) = await drain(again, 2)
            #expect(changed == [[UInt8](repeating: 9, count: 20), [9]])
            await device.disconnect()
        }
    }

    @Test func cccdCombinesAllSubscribers() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let descriptor = try #require(value.descriptor(.clientCharacteristicConfiguration))
            port.forget()
            let notified = try await device.values(of: value)
            do {
                let indicated = try await device.values(of: value, indications: true)
                let second = try await device.values(of: value)
                withExtendedLifetime((indicated, second)) {}
            }
            _ = try await device.read(value)
            _ = try await device.read(value)
            let writes = port.received.filter { $0.starts(with: [0x12] + descriptor.handle.wire) }
            #expect(writes.map { $0[3] } == [1, 3, 1])
            try await hosts.peripheral.update(value.valueHandle, to: [5])
            let (yielded, _) = await drain(notified, 1)
            #expect(yielded == [[5]])
            await device.disconnect()
        }
    }

    @Test func streamRefusesSecondConsumer() async throws {
        try await TwoHosts.altered { hosts, _ in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let values = try await device.values(of: value)
            let waiting = Task(executorPreference: hosts.loop) { await drain(values, 1).values }
            _ = try await device.read(value)
            let second = await drain(values, 1).end
            #expect(second == .invalidRequest(.streamInUse))
            try await hosts.peripheral.update(value.valueHandle, to: [5])
            #expect(await waiting.value == [[5]])
            await device.disconnect()
        }
    }
}

/// Returns the values of a stream, at most `limit`, and the error that ended it.
private func drain(
    _ stream: BoundedStream<ReceivedValue>, _ limit: Int = .max
) async -> (values: [[UInt8]], end: BLEError?) {
    var values: [[UInt8]] = []
    do throws(BLEError) {
        for try await value in stream {
            values.append(value.value)
            if values.count == limit { break }
        }
        return (values, nil)
    } catch {
        return (values, error)
    }
}

struct StreamReleaseTests {
    @Test func leavingStreamUnsubscribesBeforeDisconnect() async throws {
        let steps = Lock<[String]>([])
        try await TwoHosts.run { hosts in
            let options = AdapterOptions(
                loop: hosts.server.loop,
                capture: { direction, packet in
                    let hex = [UInt8](copying: packet).hex
                    switch direction {
                    case .hostToController where hex.hasPrefix("010604"):
                        steps.withLock { $0.append("disconnect") }
                    case .hostToController where hex.hasPrefix("02") && hex.dropFirst(18).hasPrefix("12"):
                        steps.withLock { $0.append("write " + hex.suffix(4)) }
                    case .controllerToHost where hex.hasPrefix("02") && hex.dropFirst(18) == "13":
                        steps.withLock { $0.append("written") }
                    default: break
                    }
                })
            let client = try await Adapter.open(on: await hosts.air.attach(), options: options)
            _ = try await hosts.serveThermometer()
            try await CentralManager(client).withConnection(to: try await hosts.find()) { device in
                let temperature = try await hosts.characteristic(0x2a6e, of: device)
                let values = try await device.values(of: temperature)
                try await hosts.peripheral.update(temperature.valueHandle, to: [1, 2])
                for try await _ in values { break }
            }
            await client.close()
        }
        #expect(
            steps.withLock { $0.suffix(5) } == [
                "write 0100", "written", "write 0000", "written", "disconnect",
            ])
    }
}
