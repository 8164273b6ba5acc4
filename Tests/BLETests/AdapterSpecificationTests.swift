import BLE
import HCISocket
import Testing

struct AdapterSpecificationTests {
    @Test(
        arguments: [
            ("hci0", .kernel(.index(0))), ("hci12", .kernel(.index(12))),
            ("hci:AA:BB:CC:DD:EE:FF", .kernel(.address(0xaabb_ccdd_eeff))),
            ("hci:usb:1-1.4", .kernel(.usb("1-1.4"))),
            ("user:hci0", .userChannel(.index(0))),
            ("user:hci:AA:BB:CC:DD:EE:FF", .userChannel(.address(0xaabb_ccdd_eeff))),
            ("user:hci:usb:2-3", .userChannel(.usb("2-3"))),
            ("serial:/dev/ttyACM0", .serial(path: "/dev/ttyACM0", baud: 1_000_000, flowControl: true)),
            (
                "serial:/dev/ttyS0?baud=115200&flow=off",
                .serial(path: "/dev/ttyS0", baud: 115_200, flowControl: false)
            ),
            ("tcp:localhost:9000", .stream(.tcp(host: "localhost", port: 9000))),
            ("tcp:[::1]:9000", .stream(.tcp(host: "::1", port: 9000))),
            ("unix:/tmp/a:b", .stream(.unix(path: "/tmp/a:b"))), ("virtual", .virtual(name: nil)),
            ("virtual:lamp", .virtual(name: "lamp")),
        ] as [(String, AdapterSpecification)])
    func parsesSpecification(text: String, adapter: AdapterSpecification) throws {
        #expect(try AdapterSpecification(text) == adapter)
        #expect(try AdapterSpecification(adapter.description) == adapter)
    }

    private static let long = String(repeating: "a", count: 201)

    @Test(
        "a malformed specification is refused with a message that names the fault",
        arguments: [
            ("user:", .kernelAdapter(""), #""" is not a kernel adapter"#),
            ("user:virtual", .kernelAdapter("virtual"), #""virtual" is not a kernel adapter"#),
            ("serial:", .emptyPath, "the path is empty"), ("serial:?baud=1", .emptyPath, "the path is empty"),
            (
                "serial:/dev/x?baud=1", .optionValue("1", of: .baud),
                #"baud must be 1200 to 20000000, not "1""#
            ),
            (
                "serial:/dev/x?flow=maybe", .optionValue("maybe", of: .flow),
                #"flow is on or off, not "maybe""#
            ),
            ("serial:/dev/x?speed=9600", .option("speed"), #"there is no option "speed""#),
            ("serial:/dev/x?", .option(""), #"there is no option """#),
            ("tcp:", .missingPort(""), #""" has no port"#),
            ("tcp:host", .missingPort("host"), #""host" has no port"#),
            ("tcp:host:0", .port("0"), #"the port must be 1 to 65535, not "0""#),
            ("tcp:host:65536", .port("65536"), #"the port must be 1 to 65535, not "65536""#),
            ("tcp::9000", .emptyHost, "the host is empty"),
            ("tcp:::1:9000", .unbracketed("::1"), #""::1" needs brackets"#),
            ("unix:", .emptyPath, "the path is empty"),
            (
                "unix:/" + long, .path("/" + long, limit: 107),
                "\"/\(long)\" is too long for a socket: 107 octets at most"
            ),
            (
                "virtual:", .name("", limit: 200),
                #""" is no name for an adapter: 1 to 200 octets without control characters"#
            ),
            (
                "virtual:a\u{1b}", .name("a\u{1b}", limit: 200),
                #""a\u{1B}" is no name for an adapter: 1 to 200 octets without control characters"#
            ),
            (
                "virtual:" + long, .name(long, limit: 200),
                "\"\(long)\" is no name for an adapter: 1 to 200 octets without control characters"
            ),
        ] as [(String, AdapterSpecificationError, String)])
    func refusesMalformedSpecification(text: String, error: AdapterSpecificationError, message: String) {
        #expect(throws: error) { try AdapterSpecification(text) }
        #expect(error.description == message)
    }

    @Test(arguments: [
        "", "hci", "hci-1", "hci65535", "hci0x1", "hci01", "hci0:", "hci:AA:BB", "usb:0", "hci:usb:",
        "hci:usb:1", "hci:usb:1-", "hci:usb:1-1.", "hci:usb:../1-1",
    ])
    func refusesUnknownAdapter(text: String) {
        #expect(throws: AdapterSpecificationError.adapter(text)) { try AdapterSpecification(text) }
    }

    @Test func refusesAdapterNameAsSocketAddress() {
        #expect(throws: AdapterSpecificationError.place("hci0")) { try StreamAddress("hci0") }
        #expect(AdapterSpecificationError.place("hci0").description == #""hci0" is no place for a socket"#)
    }
}
