import ATT
import BLECore
import GATT
import GATTServer
import Synchronization
import Testing

/// Requests whose handlers answer after the time limit of a transaction: the answers have no effect.
struct OverdueTests {
    private final class Asked: Sendable {
        private let answers = Mutex<[PendingAnswer]>([])

        func note(_ pending: PendingAnswer) { answers.withLock { $0.append(pending) } }
        func take() -> PendingAnswer? { answers.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    private func client(_ asked: Asked) throws -> ServedClient {
        try ServedClient([
            GATTService(
                0xff00,
                characteristics: [
                    GATTCharacteristic(
                        0xff01, properties: [.read, .write], value: .stored([1]),
                        onWrite: { request in
                            asked.note(request.pending)
                            return .later
                        })
                ])
        ])
    }

    @Test("a write accepted after the timeout is not applied") func timedOutWriteIsNotApplied() throws {
        let asked = Asked()
        var client = try client(asked)
        #expect(client.ask("120300aa") == [])
        client.connection.expire(at: try #require(client.connection.deadline))
        #expect(client.sent() == ["011200000e"])
        let pending = try #require(asked.take())
        client.connection.complete(pending, with: .success([]), serving: &client.server)
        #expect(client.sent() == [])
        #expect(client.server.database[3]?.value == [1])
    }

    @Test("prepared writes are dropped when their execution times out")
    func lateExecutionDropsPreparedWrites() throws {
        let asked = Asked()
        var client = try client(asked)
        #expect(client.ask("1603000000aabb") == ["1703000000aabb"])
        #expect(client.ask("1801") == [])
        client.connection.expire(at: try #require(client.connection.deadline))
        #expect(client.sent() == ["011800000e"])
        client.connection.complete(try #require(asked.take()), with: .success([]), serving: &client.server)
        // A shorter value does not keep the end of the earlier one.
        #expect(client.ask("1603000000cc") == ["1703000000cc"])
        #expect(client.ask("1801") == [])
        client.connection.complete(try #require(asked.take()), with: .success([]), serving: &client.server)
        #expect(client.sent() == ["19"])
        #expect(client.server.database[3]?.value == [0xcc])
    }

    @Test("prepared writes are kept when another request times out")
    func otherTimeoutKeepsPreparedWrites() throws {
        let asked = Asked()
        var client = try ServedClient([
            GATTService(
                0xff00,
                characteristics: [
                    GATTCharacteristic(0xff01, properties: [.read, .write], value: .stored([1])),
                    GATTCharacteristic(
                        0xff02, properties: .read,
                        onRead: { request in
                            asked.note(request.pending)
                            return .later
                        }),
                ])
        ])
        #expect(client.ask("1603000000aabb") == ["1703000000aabb"])
        #expect(client.ask("0a0500") == [])
        client.connection.expire(at: try #require(client.connection.deadline))
        #expect(client.sent() == ["010a00000e"])
        #expect(client.ask("1801") == ["19"])
        #expect(client.server.database[3]?.value == [0xaa, 0xbb])
    }
}
