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
    func reads(text: String, adapter: AdapterSpecification) throws {
        #expect(try AdapterSpecification(text) == adapter)
        #expect(try AdapterSpecification(adapter.description) == adapter)
    }

    @Test(arguments: [
        "", "hci", "hci-1", "hci65535", "hci0x1", "hci01", "hci0:", "hci:AA:BB", "user:", "user:virtual",
        "serial:", "serial:?baud=1",
        "serial:/dev/x?baud=1", "serial:/dev/x?flow=maybe", "serial:/dev/x?speed=9600", "serial:/dev/x?",
        "tcp:", "tcp:host",
        "tcp:host:0", "tcp:host:65536", "tcp::9000", "tcp:::1:9000", "unix:", "virtual:", "virtual:a\u{1b}",
        "usb:0", "hci:usb:", "hci:usb:1", "hci:usb:1-", "hci:usb:1-1.", "hci:usb:../1-1",
        "unix:/" + String(repeating: "a", count: 107), "virtual:" + String(repeating: "a", count: 201),
    ])
    func refuses(text: String) {
        #expect(throws: AdapterSpecificationError.self) { try AdapterSpecification(text) }
    }
}
