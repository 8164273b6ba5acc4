import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

private let peer = DeviceAddress(0xc000_0000_0001, type: .random)
private let hash = counting(16)

private func database(_ handles: [UInt16], hash: [UInt8]? = nil) -> RemoteDatabase {
    let services = handles.map { first in
        let level = RemoteCharacteristic(
            uuid: 0x2a19, handle: AttributeHandle(first + 1), valueHandle: AttributeHandle(first + 2),
            endHandle: AttributeHandle(first + 3), properties: [.read, .notify],
            descriptors: [RemoteDescriptor(uuid: 0x2902, handle: AttributeHandle(first + 3))])
        return RemoteService(
            uuid: 0x180f, handle: AttributeHandle(first), endHandle: AttributeHandle(first + 3),
            characteristics: [level])
    }
    return RemoteDatabase(services: services, hash: hash)
}

@Test func matchingHashMakesCacheCurrent() {
    var cache = DatabaseCache()
    #expect(cache.current(of: peer, hash: hash) == nil)
    let kept = cache.keep(CachedDatabase(database([1], hash: hash)), of: peer)
    #expect(cache.current(of: peer, hash: hash) == kept)
    #expect(cache.current(of: peer, hash: counting(16, from: 1)) == nil)
    #expect(cache.current(of: peer, hash: nil) == nil)
    #expect(cache.current(of: DeviceAddress(peer.value, type: .public), hash: hash) == nil)
    cache.invalidate(peer)
    #expect(cache.current(of: peer, hash: hash) == nil)
    #expect(cache.contents.isEmpty)
}

@Test func cacheWithoutHashRequiresBond() {
    var cache = DatabaseCache()
    cache.keep(CachedDatabase(database([1])), of: peer)
    #expect(cache.current(of: peer, hash: nil) == nil)
    let kept = cache.keep(CachedDatabase(database([1]), isBonded: true), of: peer)
    #expect(cache.current(of: peer, hash: nil) == kept)
    // The bond is kept when the database is discovered again.
    cache.keep(CachedDatabase(database([1])), of: peer)
    #expect(cache.contents[peer]?.isBonded == true)
    // Service Changed.
    cache.invalidate(peer)
    #expect(cache.current(of: peer, hash: nil) == nil)
    cache.keep(CachedDatabase(database([1]), isBonded: true), of: peer)
    cache.forget(peer)
    #expect(cache.current(of: peer, hash: nil) == nil)
}

@Test func generationChangesOnlyWithDatabase() throws {
    var cache = DatabaseCache()
    let first = cache.keep(CachedDatabase(database([1])), of: peer)
    #expect(first.generation.number != 0)
    let characteristic = try #require(first.characteristics(0x2a19).first)
    #expect(characteristic.generation.number == first.generation.number)
    #expect(characteristic.descriptors.map(\.generation.number) == [first.generation.number])
    cache.invalidate(peer)
    let again = cache.keep(CachedDatabase(database([1], hash: hash)), of: peer)
    #expect(again.generation.number == first.generation.number)
    let moved = cache.keep(CachedDatabase(database([2])), of: peer)
    #expect(moved.generation.number != first.generation.number)
    // A database that returns to an earlier content has a new generation.
    #expect(cache.keep(CachedDatabase(database([1])), of: peer).generation.number > moved.generation.number)
    let other = DeviceAddress(0xc000_0000_0002, type: .random)
    let theirs = cache.keep(CachedDatabase(database([1])), of: other)
    #expect(theirs.generation.number > moved.generation.number)
    // The generation is not compared.
    #expect(theirs == first)
    #expect(AttributeHandle(3).generation.number == 0 && characteristic.valueHandle == 3)
}

@Test func cacheIsBounded() {
    var cache = DatabaseCache()
    let huge = RemoteDatabase(
        services: (1...5000).map {
            RemoteService(uuid: 0x180f, handle: AttributeHandle($0), endHandle: AttributeHandle($0))
        }, hash: hash)
    #expect(cache.keep(CachedDatabase(huge), of: peer).services.count == 5000)
    #expect(cache.contents.isEmpty)
    let peers = (0..<100).map { DeviceAddress(0xc000_0000_0000 + $0, type: .random) }
    for each in peers { cache.keep(CachedDatabase(database([1], hash: hash)), of: each) }
    #expect(Set(cache.contents.keys) == Set(peers.suffix(64)))
    // A peer whose database is kept again is not evicted.
    cache.keep(CachedDatabase(database([1], hash: hash)), of: peers[36])
    cache.keep(CachedDatabase(database([1], hash: hash)), of: peers[0])
    #expect(cache.contents[peers[36]] != nil && cache.contents[peers[37]] == nil)
}

@Test("the Database Hash is read by its type, in one request")
func databaseHashIsReadByType() throws {
    let ask = "08 0100 ffff 2a2b"
    #expect(try run(ReadDatabaseHash(), [(ask, "09 12 0900" + hash.hex)]) == hash)
    for answer in [
        "01 08 0100 0a", "01 08 0900 02", "01 08 0900 05", "09 11 0900" + counting(15).hex,
    ] {
        #expect(try run(ReadDatabaseHash(), [(ask, answer)]) == [UInt8]?.none)
    }
    let outOfSync = ATTErrorResponse(.readByTypeRequest, 0x0001, .databaseOutOfSync)
    #expect(try failure(of: ReadDatabaseHash(), [(ask, "01 08 0100 12")]) == .att(outOfSync))
    #expect(
        try failure(of: ReadDatabaseHash(), [(ask, "0b 00")])
            == .misbehaving(.readByTypeRequest, .unexpectedResponse(.readResponse)))
}

@Test func duplicateDatabaseHashIsIgnored() throws {
    let two = "09 12 0900" + hash.hex + "0a00" + hash.hex
    #expect(try run(ReadDatabaseHash(), mtu: 100, [("08 0100 ffff 2a2b", two)]) == [UInt8]?.none)
}

@Test func serviceChangeIsRangeOrAllHandles() {
    #expect(ServiceChange([0x10, 0x00, 0x1f, 0x01]).range == AttributeRange(0x0010, 0x011f))
    for value in [[], [1], [0, 0, 0xff, 0xff], [2, 0, 1, 0], [1, 0, 2, 0, 3]] as [[UInt8]] {
        #expect(ServiceChange(value).range == .all)
    }
}
