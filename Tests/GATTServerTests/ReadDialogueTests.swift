import ATT
import BLECore
import GATTServer
import Testing

@Test("read characteristic value")
func readValue() throws {
    var dialogue = try ServerDialogue(single(GATTCharacteristic(0xff01, properties: .read, value: [1, 2])))
    run(&dialogue, [Exchange("0a0300", "0b0102"), Exchange("0a0200", "0b02030001ff")])
    #expect(
        dialogue.events() == [
            .read(central: ServerDialogue.central, handle: 3, uuid: 0xff01, value: [1, 2])
        ])
}

@Test("unreadable values and invalid handles are refused")
func readRefused() throws {
    var dialogue = try ServerDialogue(
        single(GATTCharacteristic(0xff01, properties: .write, value: .stored([1]))))
    run(
        &dialogue,
        [
            Exchange("0a0300", "010a030002"), Exchange("0a0400", "010a040001"),
            Exchange("0a0000", "010a000001"), Exchange("0affff", "010affff01"),
            Exchange("0c03000000", "010c030002"), Exchange("0c04000000", "010c040001"),
        ])
    #expect(dialogue.events() == [])
}

@Test("Read By Type: entries of one length, up to the first unreadable value (3.4.4.1)")
func readByTypeEndsAtUnreadableValue() throws {
    let open = GATTCharacteristic(0xff01, properties: .read, value: [1])
    let longer = GATTCharacteristic(0xff01, properties: .read, value: [2, 2])
    let closed = GATTCharacteristic(0xff01, properties: .write, value: .stored([3]))
    var dialogue = try ServerDialogue(several(open, open, longer, open, closed, open))
    run(
        &dialogue,
        [
            Exchange("080100ffff01ff", "0903" + "030001" + "050001"),
            Exchange("080600ffff01ff", "0904" + "07000202"),
            Exchange("080800ffff01ff", "0903" + "090001"),
            Exchange("080a00ffff01ff", "01080b0002"),
            Exchange("080c00ffff01ff", "0903" + "0d0001"),
        ])
    #expect(dialogue.events().count == 5)
}

@Test("read long characteristic value")
func readLong() throws {
    let value = [UInt8](0..<50)
    var dialogue = try ServerDialogue(
        single(GATTCharacteristic(0xff01, properties: .read, value: .cached(value))))
    run(
        &dialogue,
        [
            Exchange("0a0300", "0b" + value[..<22].hex),
            Exchange("0c03001600", "0d" + value[22..<44].hex),
            Exchange("0c03002c00", "0d" + value[44...].hex),
            Exchange("0c03003200", "0d"),
            Exchange("0c03003300", "010c030007"),
            Exchange("0c0300ffff", "010c030007"),
        ])
    // A long read is one event, for any number of parts.
    #expect(dialogue.events().count == 1)
}

@Test("read multiple characteristic values")
func readMultiple() throws {
    let short = GATTCharacteristic(0xff01, properties: .read, value: [1, 2])
    let long = GATTCharacteristic(0xff02, properties: .read, value: .cached([UInt8](repeating: 7, count: 30)))
    let closed = GATTCharacteristic(0xff03, properties: .write)
    var dialogue = try ServerDialogue(several(short, long, closed))
    let sevens = String(repeating: "07", count: 30)
    run(
        &dialogue,
        [
            Exchange("0e03000300", "0f01020102"),
            Exchange("0e03000500", "0f0102" + sevens.prefix(40)),
            Exchange("0e0500050003000300", "0f" + sevens.prefix(44)),
            Exchange("0e03000700", "010e070002"),
            Exchange("0e09000700", "010e090001"),
            Exchange("2003000300", "21" + "02000102" + "02000102"),
            // The second value is cut, its length is not.
            Exchange("2003000500", "21" + "02000102" + "1e00" + sevens.prefix(32)),
            Exchange("2005000300", "21" + "1e00" + sevens.prefix(40)),
            Exchange("2003000700", "0120070002"),
            Exchange("2003000b00", "01200b0001"),
        ])
}

@Test("values are truncated as 3.4 specifies, at every MTU")
func valuesAreTruncatedToMTU() throws {
    let value = [UInt8](repeating: 7, count: 300)
    for mtu in [UInt16(23), 64, 255, 256, 257, 258, 299, 300, 301, 302, 517] {
        var dialogue = try ServerDialogue(
            single(GATTCharacteristic(0xff01, properties: .read, value: .cached(value))), mtu: mtu)
        let room = Int(mtu)
        #expect(dialogue.ask("0a0300").count / 2 == 1 + min(300, room - 1))
        #expect(dialogue.ask("0c03000100").count / 2 == 1 + min(299, room - 1))
        #expect(dialogue.ask("0e03000300").count / 2 == 1 + min(600, room - 1))
        #expect(dialogue.ask("2003000300").count / 2 == 1 + min(604, room - 1))
        // The length has one octet, so the value is cut to 253 octets even if the MTU is 517.
        let byType = dialogue.ask("080100ffff01ff")
        let cut = min(300, room - 4, 253)
        #expect(byType.hasPrefix("09" + UInt8(cut + 2).hex + "0300" + "07"))
        #expect(byType.count / 2 == 4 + cut)
    }
}

@Test("read descriptors")
func readDescriptors() throws {
    let characteristic = GATTCharacteristic(
        0xff01, properties: .notify,
        descriptors: [.presentationFormat(CharacteristicPresentationFormat(.uint8, unit: 0x27ad))])
    var dialogue = try ServerDialogue(single(characteristic))
    run(
        &dialogue,
        [
            Exchange("0a0400", "0b" + "0400ad27010000"),
            Exchange("0a0500", "0b0000"),
            Exchange("1205000100", "13"),
            Exchange("0a0500", "0b0100"),
            Exchange("0c05000100", "0d00"),
            Exchange("1204000100", "0112040003"),
        ])
}
