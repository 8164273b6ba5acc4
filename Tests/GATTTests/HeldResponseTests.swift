import ATT
import BLECore
import GATT
import GATTServer
import Testing

/// Responses to writes that wait until the written value is stored.
struct HeldResponseTests {
    private func holding() throws -> ServedClient {
        var client = try ServedClient()
        client.connection.holdsChanges = true
        return client
    }

    private func held(_ client: inout ServedClient) throws -> HeldResponse {
        let responses = client.events().compactMap { event -> HeldResponse? in
            if case .changed(let response) = event { response } else { nil }
        }
        #expect(responses.count == 1)
        return try #require(responses.first)
    }

    @Test(arguments: [(true, "13"), (false, "011200000e")])
    func heldWriteIsAnsweredOnRelease(isKept: Bool, answer: String) throws {
        var client = try holding()
        #expect(client.ask("120300aa") == [])
        let response = try held(&client)
        #expect(client.server.database[3]?.value == [0xaa])
        // The next request waits for the held response. It is a read, so its own response is not held.
        #expect(client.ask("0a0300") == [])
        client.connection.release(response, isKept: isKept)
        #expect(client.sent() == [answer, "0baa"])
        // The response is sent only once.
        client.connection.release(response, isKept: isKept)
        #expect(client.sent() == [])
    }

    @Test func executeWriteResponseIsHeld() throws {
        var client = try holding()
        #expect(client.ask("1603000000bb") == ["1703000000bb"])
        #expect(client.ask("1801") == [])
        client.connection.release(try held(&client), isKept: true)
        #expect(client.sent() == ["19"])
    }

    @Test func refusedWriteIsAnsweredImmediately() throws {
        var client = try holding()
        #expect(client.ask("120200aa") == ["0112020003"])
        #expect(client.events() == [])
    }

    @Test func lateReleaseDoesNotAnswerNextRequest() throws {
        var client = try holding()
        #expect(client.ask("120300aa") == [])
        let response = try held(&client)
        // The next write has already arrived. It is served as soon as the first is refused.
        #expect(client.ask("120300bb") == [])
        client.connection.expire(at: try #require(client.connection.deadline))
        client.connection.release(response, isKept: true)
        #expect(client.sent() == ["011200000e"])
        #expect(client.server.database[3]?.value == [0xbb])
    }

    @Test func writeNotReleasedInTimeIsRefused() throws {
        var client = try holding()
        #expect(client.ask("120300aa") == [])
        let response = try held(&client)
        client.connection.expire(at: try #require(client.connection.deadline))
        #expect(client.sent() == ["011200000e"])
        #expect(client.events() == [.overdue(.writeRequest)])
        #expect(client.ask("120300bb") == [])
        client.connection.release(response, isKept: true)
        #expect(client.sent() == [])
        client.connection.release(try held(&client), isKept: true)
        #expect(client.sent() == ["13"])
    }
}
