import ATT
import BLECore
import GATTClient
import Testing

@Test func pushesGoToThoseWhoListen() {
    var table = SubscriptionTable()
    let first = table.subscribe(to: 0x0012, .notify)
    let second = table.subscribe(to: 0x0012, .indicate)
    let other = table.subscribe(to: 0x0020, .notify)
    #expect(Set([first, second, other]).count == 3)
    for push in [ATTPush.notification(0x0012, value: [7]), .indication(0x0012, value: [7])] {
        let deliveries = table.route(push)
        #expect(deliveries.map(\.handle) == [0x0012])
        #expect(deliveries.map(\.value) == [[7]])
        #expect(deliveries.map(\.subscribers) == [[first, second]])
    }
    let nobody = table.route(.notification(0x0013, value: [1]))
    #expect(nobody.map(\.subscribers) == [[]])
    #expect(nobody.map(\.value) == [[1]])
}

@Test func aMultipleNotificationIsManyDeliveries() throws {
    var table = SubscriptionTable()
    let id = table.subscribe(to: 0x0020, .notify)
    let deliveries = table.route(try ATTPush(octets("23 1200 0100 07 2000 0200 0809")))
    #expect(deliveries.map(\.handle) == [0x0012, 0x0020])
    #expect(deliveries.map { Array($0.value) } == [[7], [8, 9]])
    #expect(deliveries.map(\.subscribers) == [[], [id]])
}

@Test func theConfigurationIsWhatAllSubscribersWant() {
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
    #expect(table.route(.notification(0x0012, value: [7])).map(\.subscribers) == [[]])
    #expect(table.subscribe(to: 0x0012, .notify) != first)
}
