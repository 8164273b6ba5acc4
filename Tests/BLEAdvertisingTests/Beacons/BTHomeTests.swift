import BLEAdvertising
import BLECore
import TestSupport
import Testing

@Suite struct BTHomeTests {
    private func packet(_ hex: String) throws -> BTHome {
        try #require(try BTHome(ServiceData(0xfcd2, octets(hex))))
    }

    @Test func decodesSpecificationExample() throws {
        let packet = try packet("40 02c409 03bf13")
        #expect(
            packet.objects == [
                .measurement(.temperature, Quantity(2500, exponent: -2, .celsius)),
                .measurement(.humidity, Quantity(5055, exponent: -2, .percent)),
            ])
        #expect(
            packet.ending == nil && packet.sealed == nil && packet.address == nil && packet.counter == nil)
        #expect(!packet.information.isEncrypted && !packet.information.isTriggerBased)
    }

    @Test(
        "each quantity of the specification's table decodes its example",
        arguments: [
            ("0161", "battery 97 %"), ("02ca09", "temperature 25.06 °C"), ("03bf13", "humidity 50.55 %"),
            ("04138a01", "pressure 1008.83 hPa"), ("05138a14", "illuminance 13460.67 lx"),
            ("065e1f", "mass 80.30 kg"), ("073e1d", "mass 74.86 lb"), ("08ca06", "dewPoint 17.38 °C"),
            ("0960", "count 96"), ("0a138a14", "energy 1346.067 kWh"), ("0b021b00", "power 69.14 W"),
            ("0c020c", "voltage 3.074 V"), ("0d120c", "pm25 3090 µg/m³"), ("0e021c", "pm10 7170 µg/m³"),
            ("12e204", "co2 1250 ppm"), ("133301", "tvoc 307 µg/m³"), ("14020c", "moisture 30.74 %"),
            ("2e23", "humidity 35 %"), ("2f23", "moisture 35 %"), ("3d0960", "count 24585"),
            ("3e2a2c0960", "count 1611213866"), ("3f020c", "rotation 307.4 °"), ("400c00", "distance 12 mm"),
            ("414e00", "distance 7.8 m"), ("424e3400", "duration 13.390 s"), ("434e34", "current 13.390 A"),
            ("444e34", "speed 133.90 m/s"), ("451101", "temperature 27.3 °C"), ("4632", "uvIndex 5.0"),
            ("478756", "volume 2215.1 L"), ("48dc87", "volume 34780 mL"),
            ("49dc87", "volumeFlowRate 34.780 m³/h"), ("4a020c", "voltage 307.4 V"),
            ("4b138a14", "gas 1346.067 m³"), ("4c41018a01", "gas 25821.505 m³"),
            ("4d12138a14", "energy 344593.170 kWh"), ("4e87562a01", "volume 19551.879 L"),
            ("4f87562a01", "water 19551.879 L"), ("518756", "acceleration 22.151 m/s²"),
            ("528756", "gyroscope 22.151 °/s"), ("5587562a01", "volumeStorage 19551.879 L"),
            ("56e803", "conductivity 1000 µS/cm"), ("57ea", "temperature -22 °C"),
            ("58ea", "temperature -7.70 °C"), ("59ea", "count -22"), ("5aeaea", "count -5398"),
            ("5beaeaeaea", "count -353703190"), ("5c02fbffff", "power -12.78 W"),
            ("5d02ea", "current -5.630 A"), ("5e9f8c", "direction 359.99 °"),
            ("5f020c", "precipitation 307.4 mm"), ("6001", "channel 1"),
            ("61ac0d", "rotationalSpeed 3500 rpm"),
            ("62f0d8ffff", "speed -0.010000 m/s"), ("6340420f00", "acceleration 1.000000 m/s²"),
            ("6407", "lightLevel 7"),
        ])
    func measurementsDecodeTableExamples(_ hex: String, _ expected: String) throws {
        let found = try packet("40" + hex)
        guard case .measurement(let property, let value)? = found.objects.first else {
            Issue.record("\(found)")
            return
        }
        #expect("\(property.rawValue) \(value)" == expected)
        #expect(found.objects.count == 1 && found.ending == nil)
        // A measurement without its last octet is reported as truncated.
        let short = try packet("40" + hex.dropLast(2))
        #expect(short.objects.isEmpty)
        guard case .malformed(let error)? = short.ending, case .truncated = error.reason else {
            Issue.record("\(short)")
            return
        }
    }

    @Test(arguments: BTHomeState.allCases)
    func statesDecodeBothValues(_ state: BTHomeState) throws {
        #expect(
            try packet("40" + [state.rawValue, 0, state.rawValue, 1].hex).objects == [
                .state(state, false), .state(state, true),
            ])
        #expect(state.word(false) != state.word(true))
    }

    @Test func stateWordsNameBothValues() {
        #expect(BTHomeState.window.word(true) == "open" && BTHomeState.window.word(false) == "closed")
        #expect(BTHomeState.lock.word(true) == "unlocked" && BTHomeState.lock.word(false) == "locked")
        #expect(BTHomeState.safety.word(true) == "safe" && BTHomeState.plug.word(true) == "plugged in")
    }

    @Test(arguments: [
        ("3a01", BTHomeObject.button(.press)), ("3a80", .button(.holdPress)),
        ("3a06", .button(.longTriplePress)),
        ("3a7f", .button(.init(rawValue: 0x7f))), ("3c0000", .dimmer(0)), ("3c0103", .dimmer(-3)),
        ("3c020a", .dimmer(10)), ("3b0001", .command(.on, [])), ("3b010305", .command(.stepUp, [5])),
        ("0009", .packetIdentifier(9)), ("505d396164", .time(Timestamp(milliseconds: 1_684_093_277_000))),
        ("530c48656c6c6f20576f726c6421", .text("Hello World!")),
        ("540c48656c6c6f20576f726c6421", .raw(Array("Hello World!".utf8))), ("5300", .text("")),
        ("f00100", .deviceType(1)), ("f100010204", .firmware([4, 2, 1, 0])),
        ("f2000106", .firmware([6, 1, 0])),
    ])
    func decodesOtherObjects(_ hex: String, _ expected: BTHomeObject) throws {
        let found = try packet("44" + hex)
        #expect(found.objects == [expected] && found.ending == nil && found.information.isTriggerBased)
    }

    @Test func repeatedObjectsAreKept() throws {
        #expect(try packet("40 3a00 3a01").objects == [.button(.noEvent), .button(.press)])
    }

    @Test("an unknown object ends decoding, and earlier objects are kept")
    func unknownObjectEndsDecoding() throws {
        let found = try packet("40 0161 fe 5d09 03b718")
        #expect(found.objects == [.measurement(.battery, Quantity(97, .percent))])
        #expect(found.ending == .unknownObject(0xfe, left: 5))
    }

    @Test func invalidDimmerEventEndsDecoding() throws {
        let found = try packet("40 0161 3c0301")
        #expect(found.objects.count == 1)
        #expect(
            found.ending
                == .malformed(
                    DecodeError(
                        packet: "BTHome", field: "dimmer event", offset: 4, reason: .invalid(value: 3))))
    }

    @Test func decodesEmbeddedAddress() throws {
        let found = try packet("42 b2188d38c1a4 04138a01")
        #expect(found.address?.text == "A4:C1:38:8D:18:B2")
        #expect(found.objects == [.measurement(.pressure, Quantity(100883, exponent: -2, .hectopascal))])
    }

    static let key: UInt128 = 0x231d_39c1_d7cc_1ab1_aee2_24cd_096d_b932
    private let sender = DeviceAddress(0x5448_e68f_80a5, type: .public)

    @Test(
        "encrypted data: the specification's example, bthome-ble's, and one with an address",
        arguments: [
            ("41 e445f3c9962b 33221100 6c7c4519", 0x0011_2233),
            ("41 a47266c95f73 00112233 78237214", 0x3322_1100),
            ("43 a5808fe64854 f196c06ffb49 00112233 f08ecbde", 0x3322_1100),
        ] as [(String, UInt32)])
    func decryptsEncryptedData(_ hex: String, _ counter: UInt32) throws {
        let closed = try packet(hex)
        #expect(closed.objects.isEmpty && closed.counter == counter && closed.sealed?.counter == counter)
        let opened = try closed.opened(with: Self.key, from: closed.address == nil ? sender : nil)
        #expect(
            opened.objects == [
                .measurement(.temperature, Quantity(2506, exponent: -2, .celsius)),
                .measurement(.humidity, Quantity(5055, exponent: -2, .percent)),
            ])
        #expect(opened.sealed == nil && opened.counter == counter && opened.information == closed.information)
        #expect(try opened.opened(with: 0, from: nil) == opened, "nothing is left to open")
    }

    @Test func wrongKeyOrAddressFailsToDecrypt() throws {
        let closed = try packet("41 e445f3c9962b 33221100 6c7c4519")
        #expect(throws: BTHomeKeyError.mismatch) { try closed.opened(with: Self.key + 1, from: sender) }
        let other = DeviceAddress(0x5448_e68f_80a6, type: .public)
        #expect(throws: BTHomeKeyError.mismatch) { try closed.opened(with: Self.key, from: other) }
        #expect(throws: BTHomeKeyError.noAddress) { try closed.opened(with: Self.key, from: nil) }
    }

    @Test(arguments: [
        "", "20 02ca09", "60", "42 b2188d38c1", "41 33221100 6c7c45", "43 a5808fe64854 00112233 f08ecb",
    ])
    func malformedDataFailsToDecode(_ hex: String) {
        #expect(throws: DecodeError.self) { _ = try BTHome(ServiceData(0xfcd2, octets(hex))) }
    }

    @Test func otherServicesAreIgnored() throws {
        #expect(try BTHome(ServiceData(0x181c, octets("02c409"))) == nil)
    }
}
