import ATT
import BLECore
import GATT
import GATTServer
import Testing

private let central = ServerDialogue.central
/// The values are at 0x0003, 0x0006 and 0x0009, the CCCDs after them.
private let pushing = several(
    GATTCharacteristic(0xff01, properties: .notify), GATTCharacteristic(0xff02, properties: .indicate),
    GATTCharacteristic(0xff03, properties: [.notify, .indicate]))

@Test("characteristic value notification")
func notification() throws {
    var dialogue = try ServerDialogue(pushing)
    #expect(dialogue.server.subscribers(of: 3) == [])
    run(&dialogue, [Exchange("1204000100", "13"), Exchange("0a0400", "0b0100")])
    #expect(
        dialogue.events() == [
            .subscribed(central: central, handle: 3, uuid: 0xff01, .notify),
            .read(central: central, handle: 4, uuid: .clientCharacteristicConfiguration, value: [1, 0]),
        ])
    #expect(try dialogue.update(3, [1, 2, 3]) == "1b0300010203")
    run(&dialogue, [Exchange("1204000000", "13"), Exchange("1204000000", "13")])
    #expect(dialogue.events() == [.unsubscribed(central: central, handle: 3, uuid: 0xff01)])
    #expect(dialogue.server.subscribers(of: 3) == [])
}

@Test("characteristic value indication")
func indication() throws {
    var dialogue = try ServerDialogue(pushing)
    run(&dialogue, [Exchange("1207000200", "13")])
    #expect(try dialogue.update(6, [1, 2, 3]) == "1d0600010203")
    #expect(dialogue.reported() == [.sent(ValueUpdate(6, 0xff02, [1, 2, 3]))])
    #expect(dialogue.ask("1e") == "")
    #expect(
        dialogue.reported() == [
            .confirmed(ValueUpdate(6, 0xff02, [1, 2, 3])), .delivered(DeliveryID(rawValue: 1), .complete),
        ])
}

@Test func notificationsArePreferredWhenBothAreConfigured() throws {
    var dialogue = try ServerDialogue(pushing)
    run(&dialogue, [Exchange("120a000300", "13"), Exchange("0a0a00", "0b0300")])
    let subscriber = try #require(dialogue.server.subscribers(of: 9).first)
    #expect(!subscriber.prefersIndications)
    run(&dialogue, [Exchange("120a000200", "13")])
    #expect(
        dialogue.events().last
            == .subscribed(central: central, handle: 9, uuid: 0xff03, .indicate))
    #expect(dialogue.server.subscribers(of: 9).first?.prefersIndications == true)
}

@Test("unsupported CCCD bits are refused and change nothing (0xfd)")
func improperConfigurationsAreRefused() throws {
    var dialogue = try ServerDialogue(pushing)
    run(
        &dialogue,
        [
            Exchange("1204000200", "01120400fd"), Exchange("1204000300", "01120400fd"),
            Exchange("1207000100", "01120700fd"), Exchange("1207000580", "01120700fd"),
            Exchange("12040001", "011204000d"), Exchange("120400", "011204000d"),
            Exchange("1204000100" + "00", "011204000d"),
            Exchange("1604000000" + "01", "1704000000" + "01"), Exchange("1801", "011804000d"),
            Exchange("1604000000" + "0200", "1704000000" + "0200"), Exchange("1801", "01180400fd"),
            Exchange("0a0400", "0b0000"),
            Exchange("1604000000" + "01", "1704000000" + "01"),
            Exchange("1604000100" + "00", "1704000100" + "00"), Exchange("1801", "19"),
            Exchange("0a0400", "0b0100"),
        ])
}

@Test func eachCentralHasOwnConfigurations() throws {
    var dialogue = try ServerDialogue(pushing)
    let other = ClientID(rawValue: 2)
    dialogue.server.connect(other)
    run(&dialogue, [Exchange("1204000100", "13")])
    #expect(dialogue.server.handle(.read(4), from: other, mtu: 23) == .respond(.read([0, 0])))
    #expect(dialogue.server.handle(.write(10, value: [2, 0]), from: other, mtu: 23) == .respond(.write))
    #expect(dialogue.server.subscribers(of: 3).map(\.central) == [central])
    #expect(dialogue.server.subscribers(of: 9) == [GATTSubscriber(central: other, configuration: .indicate)])
    #expect(dialogue.server.configuration(of: 9, for: other) == .indicate)
    #expect(dialogue.server.configuration(of: 9, for: central) == [])
    #expect(dialogue.server.centrals == [central, other])
}

@Test func bondedSubscriptionsAreRestored() throws {
    var dialogue = try ServerDialogue(pushing)
    run(&dialogue, [Exchange("1204000100", "13"), Exchange("120a000200", "13")])
    _ = dialogue.events()
    var kept = dialogue.server.disconnect(central)
    #expect(kept.configurations == [3: .notify, 9: .indicate])
    #expect(
        dialogue.events() == [
            .unsubscribed(central: central, handle: 3, uuid: 0xff01),
            .unsubscribed(central: central, handle: 9, uuid: 0xff03),
        ])
    #expect(dialogue.server.subscribers(of: 3) == [])
    // Configurations that do not match the database are ignored.
    kept.configurations.merge([6: .notify, 77: .notify, 2: .notify]) { $1 }
    dialogue.server.connect(central, record: kept)
    #expect(
        dialogue.events() == [
            .subscribed(central: central, handle: 3, uuid: 0xff01, .notify),
            .subscribed(central: central, handle: 9, uuid: 0xff03, .indicate),
        ])
    run(&dialogue, [Exchange("0a0400", "0b0100"), Exchange("0a0a00", "0b0200")])
}

@Test func setValueChecksHandleAndLength() throws {
    var dialogue = try ServerDialogue(
        several(
            GATTCharacteristic(0xff01, properties: .read, length: .variable(max: 3)),
            GATTCharacteristic(0xff02, properties: [.read, .notify], length: .fixed(2))))
    try dialogue.server.setValue([1, 2], of: 3)
    try dialogue.server.setValue([3, 4], of: 5)
    run(&dialogue, [Exchange("0e03000500", "0f01020304")])
    #expect(throws: AttributeValueError.invalidLength(octets: 4, .variable(max: 3))) {
        try dialogue.server.setValue([1, 2, 3, 4], of: 3)
    }
    #expect(throws: AttributeValueError.invalidLength(octets: 1, .fixed(2))) {
        try dialogue.server.setValue([1], of: 5)
    }
    for handle: AttributeHandle in [0, 1, 2, 6, 7, 0xffff] {
        #expect(throws: AttributeValueError.notFound(handle)) {
            try dialogue.server.setValue([1, 2], of: handle)
        }
    }
}
