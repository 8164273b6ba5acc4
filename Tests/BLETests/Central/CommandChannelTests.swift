import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import HCISocket
import Testing

/// Commands that wait until their channel has subscribed to the answers.
struct CommandChannelTests {
    private struct Device: Sendable {
        let hosts: TwoHosts
        let peripheral: Peripheral
        let command: RemoteCharacteristic
        let answer: RemoteCharacteristic
        /// The commands that the server has received.
        let written: Lock<[[UInt8]]>
        /// Whether the server answers no command.
        let isSilent: Lock<Bool>
    }

    private func run(_ body: @escaping @Sendable (Device) async throws -> Void) async throws {
        try await TwoHosts.run { hosts in
            let (written, isSilent) = (Lock<[[UInt8]]>([]), Lock(false))
            try await hosts.peripheral.publish([
                .nordicUART { _, octets in written.withLock { $0.append(octets) } }
            ])
            let events = hosts.peripheral.events()
            let echo = Task(executorPreference: hosts.server.loop) {
                for try await event in events {
                    guard case .write(let central, let write, _) = event else { continue }
                    let handle = await hosts.peripheral.valueHandle(of: .nordicUARTTransmit)
                    guard let handle, !isSilent.withLock({ $0 }) else { continue }
                    // A notification to a central that has not subscribed is not sent.
                    try await hosts.peripheral.update(handle, to: write.value + [0], for: [central])
                }
            }
            let plan = try AdvertisingPlan(AdvertisingContent(), kind: .connectable)
            _ = try await hosts.peripheral.advertise(AdvertisingRequest(plan))
            let device = try await hosts.central.connect(to: hosts.server.address)
            let database = try await device.discover()
            try await body(
                Device(
                    hosts: hosts, peripheral: device,
                    command: try #require(database.characteristics(.nordicUARTReceive).first),
                    answer: try #require(database.characteristics(.nordicUARTTransmit).first),
                    written: written, isSilent: isSilent))
            echo.cancel()
        }
    }

    @Test func immediateCommandsAreAllAnswered() async throws {
        try await run { device in
            let channel = device.peripheral.commandChannel(writing: device.command, answers: device.answer)
            // The channel has not subscribed yet.
            for number in 1...3 { try channel.enqueue([UInt8(number)]) }
            #expect(channel.waiting == 3)
            try await channel.send([4])
            #expect(channel.waiting == 0)
            var answers = channel.answers.makeAsyncIterator()
            for number in 1...4 {
                let answer = try await answers.next()
                #expect(answer?.value == [UInt8(number), 0])
            }
            #expect(device.written.withLock { $0 } == [[1], [2], [3], [4]])
        }
    }

    @Test("a request returns the answer to its command, and requests at the same time follow each other")
    func requestsAreAnsweredInTurn() async throws {
        try await run { device in
            let channel = device.peripheral.commandChannel(writing: device.command, answers: device.answer)
            // The answer to this command has no receiver.
            try await channel.send([9])
            _ = await device.hosts.loop.sleep(for: .seconds(1))
            let answers = (1...3).map { number in
                Task(executorPreference: device.hosts.loop) {
                    try await channel.request([UInt8(number)], within: .seconds(5)).value
                }
            }
            for (number, answer) in zip(1...3, answers) {
                #expect(try await answer.value == [UInt8(number), 0])
            }
        }
    }

    @Test("a request without an answer, and one that is cancelled, leave the channel as it is")
    func unansweredRequestLeavesChannel() async throws {
        try await run { device in
            let silent = device.peripheral.commandChannel(
                writing: device.command, answers: device.answer, buffer: .newest(4))
            let first = try await silent.request([1], within: .seconds(1))
            #expect(first.value == [1, 0])
            device.isSilent.withLock { $0 = true }
            let began = device.hosts.loop.now
            let late = await failure { () throws(BLEError) in
                _ = try await silent.request([2], within: .seconds(2))
            }
            #expect(late == .timedOut(.answer, after: .seconds(2)))
            #expect(began.duration(until: device.hosts.loop.now) == .seconds(2))
            let cancelled = Task(executorPreference: device.hosts.loop) {
                await failure { () throws(BLEError) in
                    _ = try await silent.request([3], within: .seconds(60))
                }
            }
            _ = await device.hosts.loop.sleep(for: .seconds(1))
            cancelled.cancel()
            #expect(await cancelled.value == .cancelled)
            device.isSilent.withLock { $0 = false }
            let last = try await silent.request([4], within: .seconds(2))
            #expect(last.value == [4, 0])
            #expect(device.written.withLock { $0 } == [[1], [2], [3], [4]])
        }
    }

    @Test func commandLimitAndDisconnectFailCommands() async throws {
        try await run { device in
            let channel = device.peripheral.commandChannel(
                writing: device.command, answers: device.answer, limit: 2)
            try channel.enqueue([1])
            try channel.enqueue([2])
            let full = await failure { () throws(BLEError) in try channel.enqueue([3]) }
            #expect(full == .limit(.heldCommands, maximum: 2, value: 3))
            _ = await device.hosts.client.loop.sleep(for: .seconds(1))
            #expect(channel.waiting == 0)
            await device.peripheral.disconnect()
            let lost = BLEError.disconnected(.status(.connectionTerminatedByLocalHost))
            let end = await failure { () throws(BLEError) in
                for try await _ in channel.answers {}
            }
            #expect(end == lost)
            let late = await failure { () throws(BLEError) in try await channel.send([4]) }
            #expect(late == lost)
            #expect(device.written.withLock { $0 }.contains([3]) == false)
        }
    }

    /// `failures` reports a command that no caller waits for.
    @Test func refusedCommandIsReported() async throws {
        try await run { device in
            // The characteristic that sends the answers refuses writes.
            let channel = device.peripheral.commandChannel(writing: device.answer, answers: device.answer)
            var failures = channel.failures.makeAsyncIterator()
            try channel.enqueue([1])
            let refused = try await failures.next()
            #expect(refused?.command == [1])
            try channel.enqueue([2])
            let second = try await failures.next()
            #expect(second?.command == [2])
            await device.peripheral.disconnect()
            // The end of the channel ends the stream of failures.
            while let failure = try await failures.next() { #expect(failure.command == [3]) }
        }
    }

    @Test func cancelledCommandIsNotWritten() async throws {
        try await run { device in
            let channel = device.peripheral.commandChannel(writing: device.command, answers: device.answer)
            let given = Task(executorPreference: device.hosts.client.loop) { try await channel.send([1]) }
            given.cancel()
            let result = await given.result
            #expect(throws: BLEError.cancelled) { try result.get() }
            try await channel.send([2])
            #expect(device.written.withLock { $0 } == [[2]])
        }
    }
}
