import ATT
import BLECore
import GATTServer
import Testing

private let central = ServerDialogue.central

private func written(
    _ value: [UInt8], _ kind: GATTWriteKind, handle: AttributeHandle = 3, uuid: BluetoothUUID = 0xff01
) -> (GATTServerEvent) -> Bool {
    { event in
        guard case .write(central, let write, kind) = event else { return false }
        return write.handle == handle && write.uuid == uuid && write.value == value
    }
}

@Test("write without response")
func writeCommand() throws {
    var dialogue = try ServerDialogue(
        single(GATTCharacteristic(0xff01, properties: [.read, .writeWithoutResponse])))
    run(
        &dialogue,
        [
            Exchange("52030007", ""), Exchange("0a0300", "0b07"),
            // A Write Request is refused, because the properties do not permit it.
            Exchange("12030008", "0112030003"),
            // These commands are not answered, not even with an error.
            Exchange("52090007", ""), Exchange("52020007", ""), Exchange("520000", ""),
            Exchange("0a0300", "0b07"),
        ])
    #expect(dialogue.events().first.map(written([7], .command)) == true)
    #expect(dialogue.server.refusedCommands == 3)
}

@Test func shortWriteKeepsRestOfFixedLengthValue() throws {
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: [.read, .write], value: .stored([1, 2, 3]), length: .fixed(3))))
    run(
        &dialogue,
        [
            Exchange("12030009", "13"), Exchange("0a0300", "0b090203"),
            Exchange("12030001020304", "011203000d"),
            Exchange("1603000100" + "08", "1703000100" + "08"), Exchange("1801", "19"),
            Exchange("0a0300", "0b090803"),
        ])
    #expect(dialogue.events().contains(where: written([9, 2, 3], .request)))
}

@Test("write long characteristic value")
func writeLong() throws {
    let stale = [UInt8](repeating: 0xff, count: 40)
    var dialogue = try ServerDialogue(
        single(GATTCharacteristic(0xff01, properties: [.read, .write], value: .stored(stale))))
    let parts = ["1603000000" + "000102", "1603000300" + "0304"]
    for part in parts { #expect(dialogue.ask(part) == "17" + part.dropFirst(2)) }
    // Nothing is written before the queue is executed.
    #expect(dialogue.events() == [])
    run(&dialogue, [Exchange("1801", "19"), Exchange("0a0300", "0b0001020304")])
    #expect(dialogue.events().first.map(written([0, 1, 2, 3, 4], .prepared)) == true)
    // A part that does not begin at 0 changes the existing value.
    run(
        &dialogue,
        [
            Exchange("1603000500" + "0506", "1703000500" + "0506"),
            Exchange("1603000100" + "aa", "1703000100" + "aa"),
            Exchange("1801", "19"), Exchange("0a0300", "0b00aa0203040506"),
        ])
}

@Test("prepared writes that are cancelled or cannot be executed")
func preparedWritesFail() throws {
    var dialogue = try ServerDialogue(
        single(
            GATTCharacteristic(
                0xff01, properties: [.read, .write], value: .stored([1, 2]), length: .variable(max: 4))))
    run(
        &dialogue,
        [
            Exchange("1603000300" + "aa", "1703000300" + "aa"), Exchange("1801", "0118030007"),
            Exchange("16030000000102030405", "17030000000102030405"), Exchange("1801", "011803000d"),
            Exchange("1603000200" + "aabbcc", "1703000200" + "aabbcc"), Exchange("1801", "011803000d"),
            Exchange("1603000000" + "aa", "1703000000" + "aa"), Exchange("1800", "19"),
            // A queue that failed or was cancelled is empty.
            Exchange("1801", "19"),
            Exchange("0a0300", "0b0102"),
        ])
}

@Test("a Signed Write Command requires a valid signature and is never answered")
func signedWritesRequireValidSignature() throws {
    let services = single(GATTCharacteristic(0xff01, properties: [.read, .authenticatedSignedWrites]))
    let key = ATTSigningKey(csrk: 0x611b_64eb_fbcd_1fd3_72ec_9196_df42_5e50)
    func signed(_ value: UInt8, _ counter: UInt32, by key: ATTSigningKey = key) -> String {
        key.sign(3, value: [value], counter: counter).encoded.hex
    }
    var dialogue = try ServerDialogue(services)
    run(&dialogue, [Exchange(signed(6, 1), ""), Exchange("0a0300", "0b")])
    #expect(dialogue.server.refusedCommands == 1)

    dialogue.server.setSigningKey(key, of: ServerDialogue.central)
    run(
        &dialogue,
        [
            Exchange(signed(7, 5), ""), Exchange("0a0300", "0b07"),
            // The same counter again, an older one, the maximum, and a signature with another key.
            Exchange(signed(8, 5), ""), Exchange(signed(8, 4), ""), Exchange(signed(8, .max), ""),
            Exchange(signed(8, 9, by: ATTSigningKey(csrk: 1)), ""), Exchange("0a0300", "0b07"),
            // A Write Command is ignored, because the properties do not permit it.
            Exchange("52030009", ""), Exchange("0a0300", "0b07"),
            Exchange(signed(9, 6), ""), Exchange("0a0300", "0b09"),
        ])
    #expect(dialogue.server.refusedCommands == 6)
    #expect(dialogue.server.record(of: ServerDialogue.central)?.signCounter == 7)
    let reported = dialogue.events()
    #expect(reported.contains(.signed(central: ServerDialogue.central, nextCounter: 6)))
    #expect(reported.contains(where: written([7], .signed)))

    // On an encrypted link, a Write Command replaces a signed one (Part C, 10.4.1). A Write Request is refused.
    dialogue.server.setSecurity(LinkSecurity(level: .encrypted), of: ServerDialogue.central)
    run(
        &dialogue,
        [
            Exchange("5203000a", ""), Exchange("0a0300", "0b0a"), Exchange("1203000b", "0112030003"),
            Exchange("0a0300", "0b0a"),
        ])
    #expect(dialogue.events().contains(where: written([10], .command)))
}

@Test("write characteristic descriptors")
func writeDescriptors() throws {
    let characteristic = GATTCharacteristic(
        0xff01, properties: [.read, .broadcast], extendedProperties: .writableAuxiliaries,
        descriptors: [.userDescription("old")])
    var dialogue = try ServerDialogue(single(characteristic))
    let name = Array("new".utf8)
    run(
        &dialogue,
        [
            Exchange("120400" + name.hex, "13"), Exchange("0a0400", "0b" + name.hex),
            Exchange("1604000000" + "7a7a7a7a", "1704000000" + "7a7a7a7a"), Exchange("1801", "19"),
            Exchange("0a0400", "0b7a7a7a7a"),
            // No client may write Extended Properties; the broadcast bit may be written.
            Exchange("1205000000", "0112050003"), Exchange("1206000100", "13"), Exchange("0a0600", "0b0100"),
        ])
}
