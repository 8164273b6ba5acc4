import ATT
import BLECore
import GATTServer
import Testing

@Test("Find By Type Value compares with the client's own CCCD value (3.4.3.3)")
func findByConfiguration() throws {
    var dialogue = try ServerDialogue(discoverable)
    run(
        &dialogue,
        [
            Exchange("060100ffff0229" + "0000", "07" + "04000400" + "14001400"),
            Exchange("1204000100", "13"),
            Exchange("060100ffff0229" + "0000", "07" + "14001400"),
            Exchange("060100ffff0229" + "0100", "07" + "04000400"),
        ])
}

@Test("find included services that the application names by UUID")
func findIncludedServices() throws {
    var dialogue = try ServerDialogue(discoverable)
    run(
        &dialogue,
        [
            // The included UUID has 128 bits, so it is left out and read from its declaration.
            Exchange("080100ffff0228", "0906" + "1100" + "20002200"),
            Exchange("0a2000", "0b" + nordicHex),
            Exchange("081200ffff0228", "010812000a"),
        ])
}

@Test("discover all characteristic descriptors")
func discoverDescriptors() throws {
    let widths = [
        GATTService(
            0xff00,
            characteristics: [
                GATTCharacteristic(
                    0xff01, properties: [.read, .notify, .broadcast], extendedProperties: .reliableWrite,
                    descriptors: [.userDescription("x"), GATTDescriptor(nordic)])
            ])
    ]
    var dialogue = try ServerDialogue(widths)
    run(
        &dialogue,
        [
            Exchange("0404000800", "0501" + "04000129"),
            Exchange("0405000800", "0502" + "0500" + nordicHex),
            Exchange("0406000800", "0501" + "06000029" + "07000229" + "08000329"),
            Exchange("040900ffff", "010409000a"),
            Exchange("0a0600", "0b0100"),
            Exchange("0a0400", "0b78"),
        ])
}

@Test("errors of requests over a range (3.4.3.1, 3.4.3.3, 3.4.4.1, 3.4.4.9)")
func invalidAndEmptyRangesAreRefused() throws {
    var dialogue = try ServerDialogue(discoverable)
    for (opcode, rest) in [("04", ""), ("06", "00280f18"), ("08", "0028"), ("10", "0028")] {
        run(
            &dialogue,
            [
                Exchange(opcode + "0000ffff" + rest, "01" + opcode + "000001"),
                Exchange(opcode + "05000400" + rest, "01" + opcode + "050001"),
                Exchange(opcode + "4000ffff" + rest, "01" + opcode + "40000a"),
                Exchange(opcode + "ffffffff" + rest, "01" + opcode + "ffff0a"),
            ])
    }
    run(
        &dialogue,
        [
            Exchange("100100ffff0328", "0110010010"),
            Exchange("100100ffff" + nordicHex, "0110010010"),
            // The range is checked first.
            Exchange("100000ffff0328", "0110000001"),
        ])
}

@Test func listResponsesFillMTU() throws {
    let services = (0..<40).map { _ in GATTService(0x180f, characteristics: []) }
    for (mtu, groups, informations, matches) in [(UInt16(23), 3, 5, 5), (64, 10, 15, 15), (517, 40, 40, 40)] {
        var dialogue = try ServerDialogue(services, mtu: mtu)
        #expect(dialogue.ask("100100ffff0028").count == 4 + groups * 12)
        #expect(dialogue.ask("040100ffff").count == 4 + informations * 8)
        #expect(dialogue.ask("060100ffff00280f18").count == 2 + matches * 8)
    }
}

@Test("the end of a service is the same in all answers, and free handles in it are invalid")
func servicesEndWhereDescribed() throws {
    let services = [
        GATTService(
            0x1800, handle: 0x0001, endHandle: 0x0009,
            characteristics: [GATTCharacteristic(0x2a00, properties: .read, value: .stored([0x41]))]),
        GATTService(0xff00, handle: 0x000a, includes: [.uuid(0xfff0)]),
        GATTService(0xfff0, handle: 0x000e, endHandle: 0xffff),
    ]
    var dialogue = try ServerDialogue(services)
    run(
        &dialogue,
        [
            Exchange("100100ffff0028", "1106" + "010009000018" + "0a000b0000ff" + "0e00fffff0ff"),
            Exchange("060100ffff0028" + "f0ff", "07" + "0e00ffff"),
            Exchange("080a00ffff0228", "0908" + "0b00" + "0e00fffff0ff"),
            Exchange("0a0900", "010a090001"),
            Exchange("0affff", "010affff01"),
            Exchange("0404000900", "010404000a"),
        ])
}

@Test("UUIDs of the SIG have 128 bits on the air, if that is described")
func longFormsOfShortUUIDs() throws {
    let long = "fb349b5f8000008000100000" + "d0ff0000"
    var characteristic = GATTCharacteristic(0xffd1, properties: .read, value: .stored([7]))
    characteristic.hasLongUUID = true
    var service = GATTService(0xffd0, handle: 0x0023, characteristics: [characteristic])
    service.hasLongUUID = true
    var dialogue = try ServerDialogue([service], mtu: 64)
    let type = "fb349b5f8000008000100000" + "d1ff0000"
    run(
        &dialogue,
        [
            Exchange("100100ffff0028", "1114" + "23002500" + long),
            Exchange("082300ffff0328", "0915" + "2400" + "022500" + type),
            Exchange("042500ffff", "0502" + "2500" + type),
            // Types are compared as UUIDs, values octet by octet.
            Exchange("080100ffffd1ff", "0903" + "2500" + "07"),
            Exchange("060100ffff0028" + "d0ff", "01060100" + "0a"),
            Exchange("060100ffff0028" + long, "07" + "23002500"),
        ])
}
