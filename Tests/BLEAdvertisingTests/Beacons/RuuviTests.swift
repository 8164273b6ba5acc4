import BLEAdvertising
import BLECore
import TestSupport
import Testing

/// The test vectors of Ruuvi's protocol specifications.
@Suite struct RuuviTests {
    private func texts(_ hex: String) throws -> [String] {
        let found = try RuuviMeasurement(ManufacturerData(RuuviMeasurement.company, octets(hex)))
        let measurement = try #require(found)
        let quantities = [
            measurement.temperature, measurement.humidity, measurement.pressure, measurement.acceleration.x,
            measurement.acceleration.y, measurement.acceleration.z, measurement.battery, measurement.txPower,
        ]
        return quantities.map { $0?.description ?? "-" } + [
            measurement.movements.map { "\($0)" } ?? "-", measurement.sequence.map { "\($0)" } ?? "-",
            measurement.address?.description ?? "-",
        ]
    }

    @Test(
        "RAWv1",
        arguments: [
            (
                "03291a1ece1efc18f94202ca0b53",
                [
                    "26.30 °C", "20.5 %", "102766 Pa", "-1.000 g", "-1.726 g", "0.714 g", "2.899 V", "-", "-",
                    "-",
                    "-",
                ]
            ),
            (
                "03ff7f63ffff7fff7fff7fffffff",
                [
                    "127.99 °C", "127.5 %", "115535 Pa", "32.767 g", "32.767 g", "32.767 g", "65.535 V", "-",
                    "-",
                    "-", "-",
                ]
            ),
            (
                "0300ff6300008001800180010000",
                [
                    "-127.99 °C", "0.0 %", "50000 Pa", "-32.767 g", "-32.767 g", "-32.767 g", "0.000 V", "-",
                    "-",
                    "-", "-",
                ]
            ),
        ])
    func decodesFormat3Vectors(_ hex: String, _ expected: [String]) throws {
        #expect(try texts(hex) == expected)
    }

    @Test("format 3 temperatures use a sign bit")
    func format3TemperatureUsesSignBit() throws {
        #expect(try texts("0300 8145 0000 000000000000 0000")[0] == "-1.69 °C")
        #expect(try texts("0300 0145 0000 000000000000 0000")[0] == "1.69 °C")
    }

    @Test(
        "RAWv2",
        arguments: [
            (
                "0512fc5394c37c0004fffc040cac364200cdcbb8334c884f",
                [
                    "24.300 °C", "53.4900 %", "100044 Pa", "0.004 g", "-0.004 g", "1.036 g", "2.977 V",
                    "4 dBm",
                    "66", "205", "CB:B8:33:4C:88:4F/random",
                ]
            ),
            (
                "057ffffffefffe7fff7fff7fffffdefefffecbb8334c884f",
                [
                    "163.835 °C", "163.8350 %", "115534 Pa", "32.767 g", "32.767 g", "32.767 g", "3.646 V",
                    "20 dBm", "254", "65534", "CB:B8:33:4C:88:4F/random",
                ]
            ),
            (
                "058001000000008001800180010000000000cbb8334c884f",
                [
                    "-163.835 °C", "0.0000 %", "50000 Pa", "-32.767 g", "-32.767 g", "-32.767 g", "1.600 V",
                    "-40 dBm", "0", "0", "CB:B8:33:4C:88:4F/random",
                ]
            ),
            (
                "058000ffffffff800080008000ffffffffffffffffffffff",
                [String](repeating: "-", count: 11)
            ),
        ])
    func decodesFormat5Vectors(_ hex: String, _ expected: [String]) throws {
        #expect(try texts(hex) == expected)
    }

    @Test(
        "each unavailable value is omitted individually",
        arguments: [
            (0, "058000 5394 c37c 0004 fffc 040c ac36 42 00cd cbb8334c884f"),
            (1, "0512fc ffff c37c 0004 fffc 040c ac36 42 00cd cbb8334c884f"),
            (2, "0512fc 5394 ffff 0004 fffc 040c ac36 42 00cd cbb8334c884f"),
            (3, "0512fc 5394 c37c 8000 fffc 040c ac36 42 00cd cbb8334c884f"),
            (4, "0512fc 5394 c37c 0004 8000 040c ac36 42 00cd cbb8334c884f"),
            (5, "0512fc 5394 c37c 0004 fffc 8000 ac36 42 00cd cbb8334c884f"),
            (6, "0512fc 5394 c37c 0004 fffc 040c fff6 42 00cd cbb8334c884f"),
            (7, "0512fc 5394 c37c 0004 fffc 040c ac3f 42 00cd cbb8334c884f"),
            (8, "0512fc 5394 c37c 0004 fffc 040c ac36 ff 00cd cbb8334c884f"),
            (9, "0512fc 5394 c37c 0004 fffc 040c ac36 42 ffff cbb8334c884f"),
            (10, "0512fc 5394 c37c 0004 fffc 040c ac36 42 00cd ffffffffffff"),
        ])
    func unavailableValuesAreOmitted(_ missing: Int, _ hex: String) throws {
        let all = try texts("0512fc5394c37c0004fffc040cac364200cdcbb8334c884f")
        let found = try texts(hex)
        for index in all.indices { #expect(found[index] == (index == missing ? "-" : all[index])) }
    }

    @Test(arguments: ["03291a1ece1efc18f94202ca0b53", "0512fc5394c37c0004fffc040cac364200cdcbb8334c884f"])
    func otherLengthsFailToDecode(_ hex: String) {
        let whole = octets(hex)
        for count in 1..<whole.count {
            #expect(throws: DecodeError.self) {
                _ = try RuuviMeasurement(.init(0x0499, Array(whole[..<count])))
            }
        }
        #expect(throws: DecodeError.self) { _ = try RuuviMeasurement(.init(0x0499, whole + [0])) }
    }

    @Test func otherFormatsAndInvalidFractionsAreRejected() throws {
        #expect(try RuuviMeasurement(.init(0x0499, [])) == nil)
        #expect(try RuuviMeasurement(.init(0x0499, [8, 1])) == nil)
        #expect(try RuuviMeasurement(.init(0x004c, octets("03291a1ece1efc18f94202ca0b53"))) == nil)
        let hundred = octets("03291a64ce1efc18f94202ca0b53")
        #expect(
            throws: DecodeError(
                packet: "Ruuvi 3", field: "temperature's fraction", offset: 3,
                reason: .invalid(value: 100))
        ) { _ = try RuuviMeasurement(.init(0x0499, hundred)) }
    }
}
