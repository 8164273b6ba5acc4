import ATT
import BLECore
import GATT
import GATTClient
import Testing

private let peer = DeviceAddress(0xc0de_0000_0001, type: .random)
private let mtu = ATTMTU(23)

/// What a client knows of its server, and who listens.
struct ClientSessionTests {
    /// Service Changed with its value at 0x0003, and one value at 0x0013; both have a CCCD after that.
    private func found(_ uuid: BluetoothUUID = 0xfff1, isBonded: Bool = false) -> CachedDatabase {
        func characteristic(
            _ uuid: BluetoothUUID, _ handle: AttributeHandle, _ properties: CharacteristicProperties
        ) -> RemoteCharacteristic {
            let value = AttributeHandle(handle.rawValue + 1)
            let descriptor = AttributeHandle(handle.rawValue + 2)
            return RemoteCharacteristic(
                uuid: uuid, handle: handle, valueHandle: value, endHandle: descriptor,
                properties: properties,
                descriptors: [RemoteDescriptor(uuid: .clientCharacteristicConfiguration, handle: descriptor)])
        }
        let services = [
            RemoteService(
                uuid: .genericAttribute, handle: 0x0001, endHandle: 0x0004,
                characteristics: [characteristic(.serviceChanged, 0x0002, .indicate)]),
            RemoteService(
                uuid: 0xfff0, handle: 0x0011, endHandle: 0x0020,
                characteristics: [characteristic(uuid, 0x0012, [.notify, .indicate])]),
        ]
        return CachedDatabase(RemoteDatabase(services: services), isBonded: isBonded)
    }

    private func indication(_ handle: AttributeHandle, _ value: [UInt8]) -> ATTPush {
        .indication(handle, value: value)
    }

    /// A session that knows its database, the cache, and the value's characteristic.
    private func discovered() throws -> (ClientSession, DatabaseCache, RemoteCharacteristic) {
        var (session, cache) = (ClientSession(), DatabaseCache())
        let database = session.adopt(found(), since: session.state, of: peer, in: &cache)
        return (session, cache, try #require(database?.characteristics(0xfff1).first))
    }

    // MARK: The database

    @Test func handlesOfAnEarlierStateAreOutdated() throws {
        var (session, cache, value) = try discovered()
        #expect(session.isCurrent(value.generation) && session.currentDatabase != nil)
        #expect(session.isCurrent(.unknown))
        session.databaseChanged(of: peer, in: &cache)
        #expect(!session.isCurrent(value.generation) && session.currentDatabase == nil)
        #expect(!session.needsDiscovery(for: [value.generation]), "it is known to have changed")
        let again = session.adopt(found(0xfff2), since: session.state, of: peer, in: &cache)
        #expect(again != nil && !session.isCurrent(value.generation))
    }

    @Test func whatHasNotChangedHasTheSameName() throws {
        var (first, cache, value) = try discovered()
        first.databaseChanged(of: peer, in: &cache)
        _ = first.adopt(found(), since: first.state, of: peer, in: &cache)
        #expect(first.isCurrent(value.generation))
        // On the next link nothing is known before a discovery.
        var second = ClientSession()
        #expect(second.needsDiscovery(for: [.unknown, value.generation]))
        #expect(!second.needsDiscovery(for: [.unknown]))
        _ = second.adopt(found(), since: second.state, of: peer, in: &cache)
        #expect(second.isCurrent(value.generation))
    }

    @Test func whatChangesDuringItsDiscoveryIsNotAdopted() throws {
        var (session, cache) = (ClientSession(), DatabaseCache())
        let state = session.state
        session.databaseChanged(of: peer, in: &cache)
        #expect(session.adopt(found(), since: state, of: peer, in: &cache) == nil)
        #expect(session.partialGeneration(since: state, in: &cache) == nil)
        #expect(session.currentDatabase == nil)
        #expect(session.adopt(found(), since: session.state, of: peer, in: &cache) != nil)
    }

    @Test func aChangeThatWasToldBeforeItsHandleWasKnownCounts() throws {
        var (session, cache) = (ClientSession(), DatabaseCache())
        let state = session.state
        _ = session.receive(indication(0x0003, [0x01, 0x00, 0xff, 0xff]), mtu: mtu, at: .zero)
        #expect(session.takeConfirmations() == 1)
        #expect(session.adopt(found(), since: state, of: peer, in: &cache) == nil)
        #expect(session.adopt(found(), since: session.state, of: peer, in: &cache) != nil)
        let told = session.receive(indication(0x0003, [0x12, 0x00, 0x14, 0x00]), mtu: mtu, at: .zero)
        #expect(told == [.serviceChange(AttributeRange(0x0012, 0x0014))])
        #expect(session.takeConfirmations() == 1)
        // The application may listen, too.
        let changes = try #require(session.currentDatabase?.characteristics(.serviceChanged).first)
        let (id, _) = session.subscribe(to: changes, .indicate)
        let both = session.receive(indication(0x0003, [0x12, 0x00, 0x14, 0x00]), mtu: mtu, at: .zero)
        #expect(both.count == 2 && both.first == told.first)
        guard case .value(let value, let subscribers)? = both.last else { return #expect(both.isEmpty) }
        #expect(value.value == [0x12, 0x00, 0x14, 0x00] && subscribers == [id])
    }

    @Test func partsOfOneStateShareAName() throws {
        var (session, cache) = (ClientSession(), DatabaseCache())
        let firstFound = session.partialGeneration(since: session.state, in: &cache)
        let first = try #require(firstFound)
        let secondFound = session.partialGeneration(since: session.state, in: &cache)
        let second = try #require(secondFound)
        #expect(first.number == second.number && session.isCurrent(first))
        session.databaseChanged(of: peer, in: &cache)
        #expect(!session.isCurrent(first))
        let thirdFound = session.partialGeneration(since: session.state, in: &cache)
        let third = try #require(thirdFound)
        #expect(third.number != first.number)
    }

    @Test func theServerIsToldOnceWhatIsWantedOfIt() throws {
        var (session, cache, _) = try discovered()
        #expect(session.untoldFeatures == nil, "it has no such characteristic")
        let changesFound = session.wishForServiceChanges()
        let changes = try #require(changesFound)
        let first = session.configurationToWrite(for: changes)
        #expect(first?.descriptor.handle == 0x0004 && first?.configuration == .indicate)
        let againFound = session.wishForServiceChanges()
        let again = try #require(againFound)
        #expect(session.configurationToWrite(for: again) == nil)
        // Of another database it knows nothing.
        session.databaseChanged(of: peer, in: &cache)
        _ = session.adopt(found(0xfff2), since: session.state, of: peer, in: &cache)
        let anewFound = session.wishForServiceChanges()
        let anew = try #require(anewFound)
        #expect(session.configurationToWrite(for: anew)?.configuration == .indicate)
    }

    // MARK: Subscriptions

    @Test func theServerIsToldWhatAllWantTogether() throws {
        var (session, _, value) = try discovered()
        let (first, _) = session.subscribe(to: value, .notify)
        #expect(session.configurationToWrite(for: value)?.configuration == .notify)
        let (second, _) = session.subscribe(to: value, .indicate)
        #expect(session.configurationToWrite(for: value)?.configuration == [.notify, .indicate])
        #expect(session.configurationToWrite(for: value) == nil)
        #expect(session.unsubscribe(first) == value)
        #expect(session.unsubscribe(first) == nil)
        #expect(session.configurationToWrite(for: value)?.configuration == .indicate)
        // A refusal says that the server does not have it.
        session.configurationRefused(of: value)
        #expect(session.configurationToWrite(for: value)?.configuration == .indicate)
        _ = session.unsubscribe(second)
        #expect(session.configurationToWrite(for: value)?.configuration == [])
    }

    @Test func aChangeConcernsThoseWhoseHandlesItNames() throws {
        var (session, _, value) = try discovered()
        let (checked, _) = session.subscribe(to: value, .notify)
        var bare = value.stamped(.unknown)
        bare.valueHandle = 0x0015
        _ = session.subscribe(to: bare, .notify)
        #expect(session.subscribers(among: .all) == [checked])
        #expect(session.subscribers(among: AttributeRange(0x0014, 0xffff)) == [])
        #expect(session.end().count == 2)
        #expect(session.end() == [])
    }

    // MARK: Values

    @Test func aValueGoesToAllWhoListenInTheirOrder() throws {
        var (session, _, value) = try discovered()
        let ids = (0..<3).map { _ in session.subscribe(to: value, .notify).id }
        let received = session.receive(.notification(0x0013, value: [7]), mtu: mtu, at: .zero)
        #expect(received == [.value(ReceivedValue(handle: 0x0013, value: [7]), to: ids)])
        #expect(session.takeConfirmations() == 0)
    }

    @Test func eachValueOfAMultipleNotificationGoesItsWay() throws {
        var (session, _, value) = try discovered()
        let (id, _) = session.subscribe(to: value, .notify)
        var list = ATTTupleList<ATTHandleLengthValue>()
        list.append(ATTHandleLengthValue(0x0012, [7]))
        list.append(ATTHandleLengthValue(0x0013, [8, 9]))
        let received = session.receive(.multipleNotification(list), mtu: mtu, at: .zero)
        #expect(
            received == [
                .value(ReceivedValue(handle: 0x0012, value: [7]), to: []),
                .value(ReceivedValue(handle: 0x0013, value: [8, 9]), to: [id]),
            ])
    }

    @Test func whatCameTooEarlyIsTheFirstListeners() throws {
        var (session, _, value) = try discovered()
        for number in 1...2 as ClosedRange<UInt8> {
            _ = session.receive(indication(0x0013, [number]), mtu: mtu, at: .zero)
            #expect(session.takeConfirmations() == 1)
        }
        let first = session.subscribe(to: value, .indicate)
        #expect(first.early.map(\.value) == [[1], [2]])
        #expect(session.subscribe(to: value, .indicate).early.isEmpty)
        _ = session.end()
        session.closeEarlyValues()
        _ = session.receive(indication(0x0020, [3]), mtu: mtu, at: .zero)
        var other = value
        other.valueHandle = 0x0020
        #expect(session.subscribe(to: other, .indicate).early.isEmpty)
    }

    @Test func anIndicationIsConfirmedWhenTheLastHolderHasTakenIt() throws {
        var (session, _, value) = try discovered()
        let (first, _) = session.subscribe(to: value, .indicate, holdingConfirmation: true)
        let (second, _) = session.subscribe(to: value, .indicate, holdingConfirmation: true)
        _ = session.subscribe(to: value, .indicate)
        let received = session.receive(indication(0x0013, [1]), mtu: mtu, at: .zero)
        guard case .value(let value, _)? = received.first else { return #expect(received.isEmpty) }
        let number = try #require(value.held)
        session.taken(number, by: first)
        #expect(session.takeConfirmations() == 0)
        _ = session.unsubscribe(second)
        #expect(session.takeConfirmations() == 1)
        #expect(session.deadline == nil)
        // A server that is not confirmed in time gives up the link.
        _ = session.receive(indication(0x0013, [2]), mtu: mtu, at: .zero)
        #expect(session.deadline == .zero + .seconds(25))
        session.expire(at: .zero + .seconds(25))
        #expect(session.takeConfirmations() == 1)
        session.taken(number, by: first)
        #expect(session.takeConfirmations() == 0)
    }
}
