import ATT
import BLECore
import GATT
import GATTClient
import Testing

/// Subscriptions to the values of a server, and the writes that configure the server for them.
struct SessionSubscriptionTests {
    private let server = KnownServer()

    // MARK: Configuration of the server

    @Test func cccdCombinesAllSubscribers() throws {
        var (client, value) = try server.discovered()
        func configure(_ client: inout AskingClient) -> [String] {
            _ = client.connection.session.configure(value)
            return client.sent()
        }
        let (first, _) = client.connection.session.subscribe(to: value, .notify)
        #expect(configure(&client) == ["1214000100"])
        let (second, _) = client.connection.session.subscribe(to: value, .indicate)
        #expect(client.ask("13") == [])
        #expect(configure(&client) == ["1214000300"])
        #expect(client.ask("13") == [])
        #expect(configure(&client) == [], "it knows")
        #expect(client.ends().count == 3)
        #expect(client.connection.session.unsubscribe(first) != nil)
        #expect(client.connection.session.unsubscribe(first) == nil)
        #expect(client.sent() == ["1214000200"])
        // A refused write does not count as configured, so it is repeated.
        #expect(client.ask("01 12 1400 0e") == [])
        #expect(configure(&client) == ["1214000200"])
        #expect(client.ask("13") == [])
        _ = client.connection.session.unsubscribe(second)
        #expect(client.sent() == ["1214000000"])
    }

    @Test func supersededConfigurationIsNotWritten() throws {
        var (client, value) = try server.discovered()
        let read = client.connection.session.run(ReadValue(0x0013))
        let (first, _) = client.connection.session.subscribe(to: value, .notify)
        _ = client.connection.session.configure(value)
        _ = client.connection.session.unsubscribe(first)
        #expect(client.sent() == ["0a1300"])
        #expect(client.ask("0b01") == [], "when its turn comes nothing is wanted")
        #expect(client.ends().first == read.id)
    }

    @Test func newDatabaseIsConfiguredAgain() throws {
        var (client, _) = try server.discovered()
        #expect(client.ask("1d0300" + "0100ffff") == ["1e"])
        let other = KnownServer(0xfff2, hash: 0xbb)
        client.cache.keep(CachedDatabase(other.database), of: AskingClient.peer)
        _ = client.connection.session.discover()
        _ = client.sent()
        #expect(client.ask(other.hashAnswer) == ["1204000200"])
    }

    @Test func serviceChangeEndsCheckedSubscriptionsInRange() throws {
        var (client, value) = try server.discovered()
        let (checked, _) = client.connection.session.subscribe(to: value, .notify)
        var bare = value.stamped(.unknown)
        bare.valueHandle = 0x0015
        _ = client.connection.session.subscribe(to: bare, .notify)
        func ended(_ client: inout AskingClient, _ change: String) -> [SubscriptionID] {
            client.receive("1d0300" + change)
            return client.events().compactMap {
                if case .subscriptionEnded(let id, _) = $0 { id } else { nil }
            }
        }
        #expect(ended(&client, "1400ffff") == [])
        #expect(ended(&client, "0100ffff") == [checked])
    }

    private struct Refusal: Error {}

    @Test func unconfirmedConfigurationIsWrittenAgain() throws {
        var (client, value) = try server.discovered()
        // The write is refused, and raising the security of the link fails.
        _ = client.connection.session.subscribe(to: value, .notify)
        let first = client.connection.session.configure(value)
        let second = client.connection.session.configure(value)
        #expect(client.sent() == ["1214000100"])
        #expect(client.ask("01 12 1400 0f") == [])
        client.connection.session.securityEnded(.failed(Refusal()), for: first.id)
        #expect(client.sent() == ["1214000100"], "the second writes it")
        // A write that is cancelled before its response does not count as configured either.
        client.connection.cancel(second.id)
        #expect(client.ends() == [first.id, second.id])
        let third = client.connection.session.configure(value)
        #expect(client.ask("13") == ["1214000100"], "the answer was to what was given up")
        #expect(client.ask("13") == [])
        #expect(client.ends() == [third.id])
    }

    @Test func refusedConfigurationKeepsPreviousState() throws {
        var (client, value) = try server.discovered()
        let (first, _) = client.connection.session.subscribe(to: value, .notify)
        _ = client.connection.session.configure(value)
        _ = client.sent()
        _ = client.ask("13")
        let (second, _) = client.connection.session.subscribe(to: value, .indicate)
        let both = client.connection.session.configure(value)
        #expect(client.sent() == ["1214000300"])
        #expect(client.ask("01 12 1400 03") == [])
        #expect(client.ends().last == both.id)
        _ = client.connection.session.unsubscribe(first)
        _ = client.connection.session.unsubscribe(second)
        #expect(client.sent() == ["1214000000"], "it still sends notifications")
    }

    /// The characteristic of the server, as a client finds it before its first discovery.
    private func located(by client: inout AskingClient) throws -> RemoteCharacteristic {
        let state = client.connection.session.state
        let name = client.connection.session.partialGeneration(since: state, in: &client.cache)
        let generation = try #require(name)
        return try #require(server.database.characteristic(containing: 0x0013)).stamped(generation)
    }

    @Test(arguments: [false, true])
    func firstDiscoveryKeepsConfigurations(ofBareHandle isBare: Bool) throws {
        var client = server.client
        var found = try located(by: &client)
        if isBare { found = found.stamped(.unknown) }
        let (id, _) = client.connection.session.subscribe(to: found, .notify)
        _ = client.connection.session.configure(found)
        #expect(client.sent() == ["1214000100"])
        #expect(client.ask("13") == [])
        client.cache.keep(CachedDatabase(server.database), of: AskingClient.peer)
        _ = client.connection.session.discover()
        _ = client.sent()
        #expect(client.ask(server.hashAnswer) == ["1204000200"])
        #expect(client.ask("13") == [])
        _ = client.connection.session.configure(found)
        #expect(client.sent() == [], "the server has it")
        _ = client.connection.session.unsubscribe(id)
        #expect(client.sent() == ["1214000000"])
    }

    @Test func changeBeforeFirstDiscoveryForgetsConfigurations() throws {
        var client = server.client
        let found = try located(by: &client).stamped(.unknown)
        _ = client.connection.session.subscribe(to: found, .notify)
        _ = client.connection.session.configure(found)
        #expect(client.sent() == ["1214000100"])
        #expect(client.ask("01 12 1400 12") == [])
        _ = client.connection.session.configure(found)
        #expect(client.sent() == ["1214000100"])
        #expect(client.ask("13") == [])
        _ = client.connection.session.run(ReadValue(0x0013))
        #expect(client.sent() == ["0a1300"])
        #expect(client.ask("01 0a 1300 12") == [])
        _ = client.connection.session.configure(found)
        #expect(client.sent() == ["1214000100"])
    }

    @Test func unsubscribingStartsNoDiscovery() throws {
        var client = server.client
        let found = try located(by: &client)
        let (id, _) = client.connection.session.subscribe(to: found, .notify)
        _ = client.connection.session.configure(found)
        #expect(client.sent() == ["1214000100"])
        #expect(client.ask("01 12 1400 12") == [])
        #expect(client.connection.session.unsubscribe(id) != nil)
        #expect(client.sent() == [])
        #expect(client.ends().count == 2)
    }

    // MARK: Values

    private func values(_ client: inout AskingClient) -> [(ReceivedValue, [SubscriptionID])] {
        client.events().compactMap { if case .value(let value, let ids) = $0 { (value, ids) } else { nil } }
    }

    @Test func valueIsDeliveredToSubscribersInOrder() throws {
        var (client, value) = try server.discovered()
        let ids = (0..<3).map { _ in client.connection.session.subscribe(to: value, .notify).id }
        #expect(client.ask("1b130007") == [])
        let received = values(&client)
        #expect(received.count == 1)
        #expect(received.first?.0 == ReceivedValue(handle: 0x0013, value: [7]))
        #expect(received.first?.1 == ids)
    }

    @Test func multipleNotificationValuesAreRoutedByHandle() throws {
        var (client, value) = try server.discovered()
        let (id, _) = client.connection.session.subscribe(to: value, .notify)
        client.receive("23" + "1200010007" + "130002000809")
        let received = values(&client)
        #expect(received.map(\.0.value) == [[7], [8, 9]])
        #expect(received.map(\.1) == [[], [id]])
    }

    @Test func earlyValuesGoToFirstSubscriber() throws {
        var client = server.client
        guard case .pending = client.connection.session.discover() else {
            return #expect(Bool(false), "it is known")
        }
        _ = client.sent()
        for number in ["01", "02"] { #expect(client.ask("1d1300" + number) == ["1e"]) }
        _ = client.ask(server.hashAnswer)
        client.receive("13")
        let database = try #require(client.connection.session.currentDatabase)
        let value = try #require(database.characteristic(containing: 0x0013))
        #expect(client.connection.session.subscribe(to: value, .indicate).early.map(\.value) == [[1], [2]])
        #expect(client.connection.session.subscribe(to: value, .indicate).early.isEmpty)
        // After the discovery a value without a subscription is not kept.
        #expect(client.ask("1d200003") == ["1e"])
        var other = value
        other.valueHandle = 0x0020
        #expect(client.connection.session.subscribe(to: other, .indicate).early.isEmpty)
    }

    @Test func serviceChangedSubscriberReceivesIndication() throws {
        var (client, _) = try server.discovered()
        let database = try #require(client.connection.session.currentDatabase)
        let changes = try #require(database.characteristics(.serviceChanged).first)
        let (id, _) = client.connection.session.subscribe(to: changes, .indicate)
        #expect(client.ask("1d0300" + "12001400") == ["1e"])
        let events = client.events()
        guard case .databaseChanged(AttributeRange(0x0012, 0x0014))? = events.first,
            case .value(let value, [id])? = events.last
        else { return #expect(Bool(false), "\(events)") }
        #expect(value.value == [0x12, 0x00, 0x14, 0x00])
    }

    @Test func indicationIsConfirmedAfterLastHolderTakesIt() throws {
        var (client, value) = try server.discovered()
        let (first, _) = client.connection.session.subscribe(to: value, .indicate, holdingConfirmation: true)
        let (second, _) = client.connection.session.subscribe(to: value, .indicate, holdingConfirmation: true)
        _ = client.connection.session.subscribe(to: value, .indicate)
        #expect(client.ask("1d130001") == [])
        let received = values(&client)
        let number = try #require(received.first?.0.held)
        client.connection.session.taken(number, by: first)
        #expect(client.sent() == [])
        _ = client.connection.session.unsubscribe(second)
        #expect(client.sent().contains("1e"))
        // The server ends the link if it is not confirmed in time, so the confirmation is sent after 25 s at
        // the latest.
        _ = client.ask("13")
        #expect(client.ask("1d130002") == [])
        client.now = client.now + .seconds(25)
        #expect(client.connection.deadline == client.now)
        client.connection.expire(at: client.now)
        #expect(client.sent() == ["1e"])
        client.connection.session.taken(number, by: first)
        #expect(client.sent() == [])
    }
}
