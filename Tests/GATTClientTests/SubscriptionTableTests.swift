import ATT
import BLECore
import GATTClient
import Testing

@Test func subscribersAreFoundByHandle() {
    var table = SubscriptionTable()
    let first = table.subscribe(to: 0x0012, .notify)
    let second = table.subscribe(to: 0x0012, .indicate)
    let other = table.subscribe(to: 0x0020, .notify)
    #expect(Set([first, second, other]).count == 3)
    #expect(table.subscribers(of: 0x0012) == [first, second])
    #expect(table.subscribers(of: 0x0020) == [other])
    #expect(table.subscribers(of: 0x0013) == [])
}

@Test func cccdCombinesAllSubscribers() {
    var table = SubscriptionTable()
    #expect(table.configuration(of: 0x0012) == [])
    let first = table.subscribe(to: 0x0012, .notify)
    let second = table.subscribe(to: 0x0012, .notify)
    let third = table.subscribe(to: 0x0012, .indicate)
    #expect(table.configuration(of: 0x0012) == [.notify, .indicate])
    #expect(table.unsubscribe(third) == 0x0012)
    #expect(table.unsubscribe(third) == nil)
    #expect(table.unsubscribe(first) == 0x0012)
    #expect(table.configuration(of: 0x0012) == .notify)
    #expect(table.unsubscribe(second) == 0x0012)
    #expect(table.configuration(of: 0x0012) == [])
    #expect(table.subscribers(of: 0x0012) == [])
    #expect(table.subscribe(to: 0x0012, .notify) != first)
}
