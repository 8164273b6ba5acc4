import ATT
import BLE
import BLECore
import GATTClient
import GATTServer
import HCISocket
import Testing

struct TransactionTests {
    @Test func silenceOf30SecondsEndsLinkWithTimeout() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let values = try await device.values(of: value)
            port.alter(silencing(.readResponse))
            let silence = BLEError.timedOut(.response, after: .seconds(30))
            let asked = Task(executorPreference: hosts.loop) {
                await failure { () throws(BLEError) in _ = try await device.read(value) }
            }
            let queued = Task(executorPreference: hosts.loop) {
                await failure { () throws(BLEError) in try await device.write([1], to: value) }
            }
            let listening = Task(executorPreference: hosts.loop) {
                await failure { () throws(BLEError) in for try await _ in values {} }
            }
            let discovering = Task(executorPreference: hosts.loop) {
                await failure { () throws(BLEError) in _ = try await device.discover(refreshing: true) }
            }
            #expect(await asked.value == silence)
            #expect(await queued.value == silence)
            #expect(await listening.value == silence)
            #expect(await discovering.value == silence)
            // Nothing more was sent, and later calls fail as well.
            #expect(!port.hasReceived([0x12] + value.valueHandle.wire))
            let late = await failure { () throws(BLEError) in _ = try await device.read(value) }
            #expect(late == silence)
            _ = try? await device.disconnection()
            let afterwards = await failure { () throws(BLEError) in _ = try await device.read(value) }
            #expect(afterwards == silence)
            port.alter(nil)
            let again = try await hosts.connect()
            #expect(try await again.read(value) == [1])
            await again.disconnect()
        }
    }

    @Test func failedDiscoveryEndsServiceChanges() async throws {
        try await TwoHosts.altered { hosts, port in
            port.alter { $0.first == 0x11 ? [[0x01, 0x10, 0x01, 0x00, 0x0e]] : [$0] }
            let device = try await hosts.connect()
            let error = await failure { () throws(BLEError) in for try await _ in device.serviceChanges() {} }
            guard case .att = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            await device.disconnect()
        }
    }

    @Test func commandsOvertakePendingRequests() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            port.alter(silencing(.readResponse))
            let read = Task(executorPreference: hosts.loop) { try await device.read(value) }
            let write = Task(executorPreference: hosts.loop) { try await device.write([9], to: value) }
            _ = await hosts.loop.sleep(for: .seconds(1))
            for number in 1...3 { try await device.writeWithoutResponse([UInt8(number)], to: value) }
            _ = await hosts.loop.sleep(for: .seconds(1))
            let commands = port.received.filter { $0[0] == 0x52 }
            #expect(commands.map { $0[3] } == [1, 2, 3])
            // The second request waits for the first.
            #expect(!port.hasReceived([0x12] + value.valueHandle.wire))
            port.alter(nil)
            port.inject([0x0b, 42])
            #expect(try await read.value == [42])
            try await write.value
            #expect(port.received.last == [0x12] + value.valueHandle.wire + [9])
            await device.disconnect()
        }
    }

    @Test func cancelledRequestStillBlocksNext() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            port.alter(silencing(.readResponse))
            port.forget()
            let read = Task(executorPreference: hosts.loop) {
                await failure { () throws(BLEError) in _ = try await device.read(value) }
            }
            _ = await hosts.loop.sleep(for: .seconds(1))
            read.cancel()
            #expect(await read.value == .cancelled)
            let write = Task(executorPreference: hosts.loop) { try await device.write([9], to: value) }
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(port.received == [[0x0a] + value.valueHandle.wire])
            port.alter(nil)
            port.inject([0x0b, 42])
            try await write.value
            #expect(try await device.read(value) == [9])
            await device.disconnect()
        }
    }

    @Test func queuedRequestIsCancellable() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            port.alter(silencing(.readResponse))
            port.forget()
            let read = Task(executorPreference: hosts.loop) { try await device.read(value) }
            let waiting = Task(executorPreference: hosts.loop) {
                await failure { () throws(BLEError) in try await device.write([9], to: value) }
            }
            _ = await hosts.loop.sleep(for: .seconds(1))
            waiting.cancel()
            #expect(await waiting.value == .cancelled)
            port.alter(nil)
            port.inject([0x0b, 42])
            #expect(try await read.value == [42])
            #expect(try await device.read(value) == [1])
            #expect(!port.hasReceived([0x12]))
            await device.disconnect()
        }
    }

    @Test func cancelledLongWriteIsDiscardedAtServer() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect(mtu: .default)
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let parts = Counting()
            // The third part is not answered until the test injects the answer.
            port.alter { $0[0] == 0x17 && parts.next() == 3 ? [] : [$0] }
            port.forget()
            let write = Task(executorPreference: hosts.loop) {
                await failure { () throws(BLEError) in
                    try await device.write([UInt8](repeating: 7, count: 100), to: value)
                }
            }
            _ = await hosts.loop.sleep(for: .seconds(1))
            write.cancel()
            #expect(await write.value == .cancelled)
            let other = Task(executorPreference: hosts.loop) {
                try await device.write([UInt8](repeating: 8, count: 30), to: value)
            }
            port.inject([0x17] + value.valueHandle.wire + [36, 0] + [UInt8](repeating: 7, count: 18))
            try await other.value
            #expect(port.received.map { $0[0] } == [0x16, 0x16, 0x16, 0x18, 0x16, 0x16, 0x18])
            #expect(port.received[3] == [0x18, 0x00] && port.received[6] == [0x18, 0x01])
            #expect(try await device.read(value) == [UInt8](repeating: 8, count: 30))
            await device.disconnect()
        }
    }

    @Test func wrongEchoFailsReliableWrite() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect()
            let database = try await device.discover()
            let (one, two) = (
                try #require(database.characteristics(Sample.value).first),
                try #require(database.characteristics(Sample.other).first)
            )
            try await device.writeReliably([(one, [5, 5]), (two, [6])])
            #expect(try await device.read(one) == [5, 5])
            #expect(try await device.read(two) == [6])
            port.alter { frame in frame[0] == 0x17 ? [frame.dropLast() + [0xff]] : [frame] }
            let lied = await failure { () throws(BLEError) in
                try await device.writeReliably([(one, [7]), (two, [7])])
            }
            guard case .peerMisbehaved(.answer(_, .wrongEcho)) = lied else { return #expect(lied == nil) }
            #expect(port.received.last == [0x18, 0x00])
            #expect(try await device.read(one) == [5, 5])
            await device.disconnect()
        }
    }

    @Test func signedWriteCarriesValidSignature() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect(mtu: .default)
            let value = try #require(try await device.discover().characteristics(Sample.value).first)
            let key = ATTSigningKey(csrk: 0x0123_4567_89ab_cdef)
            port.forget()
            try await device.writeSigned([1, 2], to: value, with: key, counter: 7)
            _ = try await device.read(value)
            let sent = try #require(port.received.first)
            let command = try ATTCommand(sent)
            #expect(key.verifies(command))
            #expect(command.handle == value.valueHandle && command.value == [1, 2])
            let tooLong = await failure { () throws(BLEError) in
                try await device.writeSigned(
                    [UInt8](repeating: 0, count: 9), to: value, with: key, counter: 8)
            }
            #expect(
                tooLong
                    == .limit(.value(.signedWriteCommand), maximum: 8, value: 9))
            await device.disconnect()
        }
    }

    @Test func protectedReadIsRefusedOnceWithoutRaisingSecurity() async throws {
        try await TwoHosts.altered { hosts, port in
            let device = try await hosts.connect(raisesSecurity: false)
            let secret = try #require(try await device.discover().characteristics(Sample.secret).first)
            port.forget()
            let refused = await failure { () throws(BLEError) in _ = try await device.read(secret) }
            let refusal = ATTErrorResponse(.readRequest, secret.valueHandle, .insufficientAuthentication)
            #expect(refused == .att(refusal))
            #expect(port.received == [[0x0a] + secret.valueHandle.wire])
            await device.disconnect()
        }
    }

    @Test func securityRisesOneLevelPerError() {
        let authentication = ATTErrorCode.insufficientAuthentication
        #expect(SecurityLevel.open.level(after: authentication) == .encrypted)
        #expect(SecurityLevel.encrypted.level(after: authentication) == .authenticated)
        #expect(SecurityLevel.authenticated.level(after: authentication) == .secureConnections)
        #expect(SecurityLevel.secureConnections.level(after: authentication) == nil)
        #expect(SecurityLevel.open.level(after: .insufficientEncryption) == .encrypted)
        #expect(SecurityLevel.encrypted.level(after: .insufficientEncryption) == nil)
        for code in [ATTErrorCode.readNotPermitted, .encryptionKeySizeTooShort, .insufficientAuthorization] {
            #expect(SecurityLevel.open.level(after: code) == nil)
        }
    }
}

/// A counter that returns 1, 2, 3 and so on.
final class Counting: Sendable {
    private let count = Lock(0)
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
