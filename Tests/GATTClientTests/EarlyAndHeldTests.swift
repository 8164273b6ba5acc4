import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

private func value(_ handle: AttributeHandle, _ octets: [UInt8]) -> ReceivedValue {
    ReceivedValue(handle: handle, value: octets)
}

@Test func earlyValuesAreKeptForFirstSubscriber() {
    var early = UnclaimedValues()
    early.keep(value(3, [1]))
    early.keep(value(5, [2]))
    early.keep(value(3, [3]))
    early.close()
    // Values of a handle with early values are still kept, so that the subscriber has no gap.
    early.keep(value(3, [4]))
    early.keep(value(7, [5]))
    #expect(early.take(3).map(\.value) == [[1], [3], [4]])
    #expect(early.take(3) == [])
    early.keep(value(3, [6]))
    #expect(early.take(3) == [])
    #expect(early.take(7) == [])
    #expect(early.take(5).map(\.value) == [[2]])
}

@Test func earlyValuesAreBounded() {
    var early = UnclaimedValues()
    for number in 0..<100 { early.keep(value(3, [UInt8(number)])) }
    #expect(early.take(3).map(\.value) == (36..<100).map { [UInt8($0)] })
    for number in 0..<60 { early.keep(value(4, [UInt8](repeating: UInt8(number), count: 512))) }
    #expect(early.take(4).map { $0.value[0] } == (28..<60).map { UInt8($0) })
    // Values that were taken no longer count.
    early.keep(value(4, counting(512)))
    #expect(early.take(4).count == 1)
}

@Test func indicationIsConfirmedAfterAllSubscribersTakeIt() {
    var table = SubscriptionTable()
    let (one, two) = (table.subscribe(to: 3, .indicate), table.subscribe(to: 3, .indicate))
    var held = PendingConfirmations()
    #expect(held.deadline == nil)
    let first = held.hold(for: [one, two], at: .zero)
    let second = held.hold(for: [one], at: .zero + .seconds(5))
    #expect(held.deadline == .zero + .seconds(25))
    #expect(held.taken(first, by: one) == false)
    #expect(held.taken(first, by: one) == false)
    #expect(held.taken(first, by: two) == true)
    #expect(held.taken(first, by: two) == false)
    #expect(held.deadline == .zero + .seconds(30))
    #expect(held.expire(at: .zero + .seconds(29)) == 0)
    #expect(held.expire(at: .zero + .seconds(30)) == 1)
    #expect(held.taken(second, by: one) == false)
    #expect(held.deadline == nil)
}

@Test func releasedSubscriberDoesNotBlockConfirmation() {
    var table = SubscriptionTable()
    let (one, two) = (table.subscribe(to: 3, .indicate), table.subscribe(to: 3, .indicate))
    var held = PendingConfirmations()
    let first = held.hold(for: [one, two], at: .zero)
    _ = held.hold(for: [one], at: .zero)
    #expect(held.released(by: one) == 1)
    #expect(held.released(by: one) == 0)
    #expect(held.taken(first, by: two) == true)
}

@Test("a subscriber that receives the values of another one is waited for in its place")
func handedOverValueIsWaitedFor() {
    var table = SubscriptionTable()
    let (one, two) = (table.subscribe(to: 3, .indicate), table.subscribe(to: 3, .indicate))
    var held = PendingConfirmations()
    let first = held.hold(for: [one], at: .zero)
    held.handOver(from: one, to: two)
    #expect(held.released(by: one) == 0)
    #expect(held.taken(first, by: two) == true)
}

@Test func unsolicitedPDUsExpandToReceivedValues() throws {
    let now = Instant.zero + .seconds(3)
    let full = ATTUnsolicited.notification(3, value: counting(20)).values(mtu: .default, at: now)
    #expect(full == [ReceivedValue(handle: 3, value: counting(20), mayBeTruncated: true, received: now)])
    let indication = ATTUnsolicited.indication(3, value: [1]).values(mtu: .default, at: now)
    #expect(indication == [ReceivedValue(handle: 3, value: [1], isIndication: true, received: now)])
    let several = try ATTUnsolicited(octets("23 1200 0100 07 2000 0300 0809")).values(mtu: .default, at: now)
    #expect(several.map(\.handle) == [0x12, 0x20] && several.map(\.value) == [[7], [8, 9]])
    #expect(several.map(\.mayBeTruncated) == [false, true] && several.map(\.length) == [nil, 3])
}

@Test("a value is written with a plain or a long write, as the current MTU requires")
func writeProcedureFollowsMTU() throws {
    try run(WriteCharacteristicValue(3, counting(20)), [("12 0300" + counting(20).hex, "13")])
    try run(WriteCharacteristicValue(3, counting(21)), mtu: 24, [("12 0300" + counting(21).hex, "13")])
    let parts = [
        ("16 0300 0000" + counting(18).hex, "17 0300 0000" + counting(18).hex),
        ("16 0300 1200" + counting(3, from: 18).hex, "17 0300 1200" + counting(3, from: 18).hex),
    ]
    try run(WriteCharacteristicValue(3, counting(21)), parts + [("18 01", "19")])
    #expect(
        try failure(of: WriteCharacteristicValue(3, [1]), [("12 0300 01", "01 12 0300 03")])
            == .att(ATTErrorResponse(.writeRequest, 3, .writeNotPermitted)))
}

@Test func onlyLongWriteHasUndoRequest() throws {
    var short = WriteCharacteristicValue(3, [1])
    #expect(short.undo == nil)
    _ = try short.next(mtu: 23)
    #expect(short.undo == nil)
    var long = WriteCharacteristicValue(3, counting(30))
    _ = try long.next(mtu: 23)
    #expect(long.undo == .executeWrite(.cancel))
}
