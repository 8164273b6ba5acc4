import ArgumentParser
import BLEAdvertising
import BLECore
import TestSupport
import Testing

@testable import bletool

struct ReceivedBeaconTests {
    private let sender = DeviceAddress(0x5448_e68f_80a5, type: .public)

    private func event(_ payload: String, keys: [String] = []) throws -> AdvertisementEvent {
        let payload = octets(payload)
        return AdvertisementEvent(
            address: sender, rssi: -50, isConnectable: false, isScannable: false, isScanResponse: false,
            isLegacy: true, fields: AdvertisingData(payload), payload: payload,
            time: Timestamp(milliseconds: 0),
            keys: try BindKeys(texts: keys), companyName: Names.company, serviceName: Names.name)
    }

    private func text(_ payload: String, keys: [String] = []) throws -> String {
        let line = try #require(try event(payload, keys: keys).lines(colored: false).first)
        return String(line.dropFirst(" -50 dBm  54:48:E6:8F:80:A5/public  ".count))
    }

    @Test(
        arguments: [
            (
                "1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5",
                "iBeacon uuid e2c56db5-dffb-48d2-b060-d0f5a71096e0, major 1, minor 2, measured power -59 dBm"
            ),
            (
                "1bff1801beac000102030405060708090a0b0c0d0e0f00010203c507",
                "AltBeacon identifier 000102030405060708090a0b0c0d0e0f00010203, reference RSSI -59 dBm"
            ),
            ("0e16aafe10ee03676f6f2e676c2f41", "Eddystone-URL url https://goo.gl/A, power -18 dBm"),
            (
                "1116aafe20000bb816800000000c00000258",
                "Eddystone-TLM battery 3.000 V, temperature 22.500 °C, packets 12, uptime 60.0 s"
            ),
            (
                "1bff99040512fc5394c37c0004fffc040cac364200cdcbb8334c884f",
                "Ruuvi 5 temperature 24.300 °C, humidity 53.4900 %, pressure 100044 Pa, battery 2.977 V"
            ),
            ("0c16d2fc400161 1a01 3f020c 07", "BTHome battery 97 %, door open, rotation 307.4 °"),
            ("0816d2fc400161fe5d", nil),
        ] as [(String, String?)])
    func beaconsAreDescribedInText(_ payload: String, _ expected: String?) throws {
        guard let expected else {
            #expect(
                try text(payload)
                    == "BTHome battery 97 % (object 0xfe is not known, nor where the next begins; 1 octets are left)"
            )
            return
        }
        let found = try text(payload)
        #expect(found.hasPrefix(expected), "\(found)")
    }

    @Test("a packet without a beacon is shown with all its named fields")
    func packetWithoutBeaconShowsAllFields() throws {
        let payload = "03030f18 03140918 04160f1864 05ff4c001005 0319c103 020afc 0524172f2f61 05ffffff0102"
        #expect(
            try text(payload)
                == "services 180f Battery Service  solicits 1809 Health Thermometer  Apple, Inc.:1005  0xffff:0102  "
                + "Battery Service:64  uri https://a  appearance Keyboard  sent at -4 dBm")
        #expect(try event(payload).json["uri"] == "https://a")
    }

    @Test func beaconsAreEncodedAsJSON() throws {
        let json = try event("1116aafe20000bb816800000000c00000258 0a16d2fc4002c40902ca09").json
        #expect(
            json["beacon"]?.description
                == #"{"format":"Eddystone-TLM","batteryV":3.000,"temperatureC":22.500,"packets":12,"uptimeS":60.0,"problem":null}"#
        )
        #expect(
            json["otherBeacons"]?.description
                == #"[{"format":"BTHome","temperatureC":25.00,"temperatureC_2":25.06,"problem":null}]"#)
        #expect(try event("020106").json["beacon"] == .null)
    }

    private let sealed = "1216d2fc41e445f3c9962b332211006c7c4519"

    @Test("keys decrypt packets, and a sensor's own key takes precedence")
    func sensorKeyTakesPrecedence() throws {
        let (key, other) = ("231d39c1d7cc1ab1aee224cd096db932", "00112233445566778899aabbccddeeff")
        let opened = "BTHome temperature 25.06 °C, humidity 50.55 %"
        #expect(try text(sealed) == "BTHome encrypted yes (no --bindkey is given for it)")
        #expect(try text(sealed, keys: [key]) == opened)
        #expect(try text(sealed, keys: [other, key]) == opened)
        #expect(try text(sealed, keys: [other]) == "BTHome encrypted yes (the key does not fit)")
        #expect(try text(sealed, keys: [other, "54:48:e6:8f:80:a5=\(key)"]) == opened)
        #expect(
            try text(sealed, keys: [key, "54:48:E6:8F:80:A5=\(other)"]).hasSuffix("(the key does not fit)"))
        #expect(
            try event(sealed, keys: [key]).json["beacon"]?.description
                == #"{"format":"BTHome","encrypted":true,"counter":1122867,"temperatureC":25.06,"humidityPercent":50.55,"problem":null}"#
        )
    }

    @Test(arguments: [
        "", "00", "231d39c1d7cc1ab1aee224cd096db9", "231d39c1d7cc1ab1aee224cd096db932ff",
        "x=231d39c1d7cc1ab1aee224cd096db932", "=231d39c1d7cc1ab1aee224cd096db932", "54:48:E6:8F:80:A5=",
        "231d39c1d7cc1ab1aee224cd096db93g",
    ])
    func invalidKeysAreRefused(_ text: String) throws {
        let failure = #expect(throws: Failure.self) { try ScanArguments.parse(["--bindkey", text]).keys() }
        #expect(failure?.what == "--bindkey" && failure?.kind == .usage)
    }

    @Test func duplicateSensorKeysAreRefused() throws {
        let key = "231d39c1d7cc1ab1aee224cd096db932"
        let arguments = ["--bindkey", "54:48:E6:8F:80:A5=\(key)", "--bindkey", "54:48:e6:8f:80:a5=\(key)"]
        #expect(throws: Failure.self) { try ScanArguments.parse(arguments).keys() }
    }
}
