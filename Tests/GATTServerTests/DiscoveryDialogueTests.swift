import ATT
import BLECore
import GATTServer
import Testing

@Test("GATT/SR/GAD/BV-01-C: discover all primary services")
func discoverPrimaryServices() throws {
    var dialogue = try ServerDialogue(discoverable)
    speak(
        &dialogue,
        [
            Exchange("100100ffff0028", "1106" + "010004000f18" + "100014000918"),
            // The UUID of the next one is longer, so it comes alone.
            Exchange("101500ffff0028", "1114" + "20002200" + nordicHex),
            Exchange("102300ffff0028", "011023000a"),
            Exchange("100100ffff0128", "1106" + "300030000f18"),
            // A 16-bit group type may come in its long form.
            Exchange(
                "100100ffff" + "fb349b5f80000080001000000128" + "0000", "1106" + "300030000f18"),
        ])
}

@Test("GATT/SR/GAD/BV-02-C: discover primary services by UUID")
func discoverPrimaryServicesByUUID() throws {
    var dialogue = try ServerDialogue(discoverable)
    speak(
        &dialogue,
        [
            Exchange("060100ffff00280f18", "0701000400"),
            Exchange("060500ffff00280f18", "010605000a"),
            Exchange("060100ffff0028" + nordicHex, "0720002200"),
            // Characteristics group what follows them, descriptors do not.
            Exchange("060100ffff0328" + "120300192a", "0702000400"),
            Exchange("060100ffff0229" + "0000", "07" + "04000400" + "14001400"),
            Exchange("060100ffff192a" + "64", "0703000300"),
        ])
}

@Test("GATT/SR/GAD/BV-03-C: find included services")
func findIncludedServices() throws {
    var dialogue = try ServerDialogue(discoverable)
    speak(
        &dialogue,
        [
            // The included UUID has 128 bits, so it is left out and read from its declaration.
            Exchange("080100ffff0228", "0906" + "1100" + "20002200"),
            Exchange("0a2000", "0b" + nordicHex),
            Exchange("081200ffff0228", "010812000a"),
        ])
}

@Test("GATT/SR/GAD/BV-04-C: discover all characteristics of a service")
func discoverCharacteristics() throws {
    var dialogue = try ServerDialogue(discoverable)
    speak(
        &dialogue,
        [
            Exchange("080100ffff0328", "0907" + "0200" + "120300192a" + "1200" + "2013001c2a"),
            Exchange("081300ffff0328", "0915" + "2100" + "022200" + nordicHex),
            Exchange("08230022000328", "0108230001"),
        ])
}

@Test("GATT/SR/GAD/BV-06-C: discover all characteristic descriptors")
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
    speak(
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

@Test("Errors of the requests over a range (3.4.3.1, 3.4.3.3, 3.4.4.1, 3.4.4.9)")
func rangesThatAreNone() throws {
    var dialogue = try ServerDialogue(discoverable)
    for (opcode, rest) in [("04", ""), ("06", "00280f18"), ("08", "0028"), ("10", "0028")] {
        speak(
            &dialogue,
            [
                Exchange(opcode + "0000ffff" + rest, "01" + opcode + "000001"),
                Exchange(opcode + "05000400" + rest, "01" + opcode + "050001"),
                Exchange(opcode + "4000ffff" + rest, "01" + opcode + "40000a"),
                Exchange(opcode + "ffffffff" + rest, "01" + opcode + "ffff0a"),
            ])
    }
    speak(
        &dialogue,
        [
            Exchange("100100ffff0328", "0110010010"),
            Exchange("100100ffff" + nordicHex, "0110010010"),
            // The range is looked at first.
            Exchange("100000ffff0328", "0110000001"),
        ])
}

@Test func aListHoldsWhatFitsTheMTU() throws {
    let services = (0..<40).map { _ in GATTService(0x180f, characteristics: []) }
    for (mtu, groups, informations, matches) in [(UInt16(23), 3, 5, 5), (64, 10, 15, 15), (517, 40, 40, 40)] {
        var dialogue = try ServerDialogue(services, mtu: mtu)
        #expect(dialogue.ask("100100ffff0028").count == 4 + groups * 12)
        #expect(dialogue.ask("040100ffff").count == 4 + informations * 8)
        #expect(dialogue.ask("060100ffff00280f18").count == 2 + matches * 8)
    }
}
