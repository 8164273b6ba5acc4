import BLECore
import Foundation
import Testing

@testable import bletool

struct LastScanTests {
    private static let one = DeviceAddress(0xc102_0304_0506, type: .random)
    private static let two = DeviceAddress(0x0001_0203_0405, type: .public)

    @Test func addressIsFoundByItsValue() throws {
        try withTemporaryPath { path in
            let scan = LastScan(path: path)
            #expect(scan.addresses(Self.one.value) == [])
            scan.keep([Self.one, Self.two])
            #expect(scan.addresses(Self.one.value) == [Self.one])
            #expect(scan.addresses(Self.two.value) == [Self.two])
            #expect(scan.addresses(1) == [])
            // The addresses of the previous scan are not kept.
            scan.keep([Self.one])
            #expect(scan.addresses(Self.two.value) == [])
        }
    }

    @Test func equalAddressesOfBothTypesAreReturned() throws {
        try withTemporaryPath { path in
            let other = DeviceAddress(Self.one.value, type: .public)
            LastScan(path: path).keep([Self.one, other])
            #expect(Set(LastScan(path: path).addresses(Self.one.value)) == [Self.one, other])
        }
    }

    @Test(arguments: ["", "\n\n", "nonsense", "C1:02:03:04:05:06", "\u{0}"])
    func invalidFileContentYieldsNoAddress(_ text: String) throws {
        try withTemporaryPath { path in
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(LastScan(path: path).addresses(Self.one.value) == [])
        }
    }

    @Test("a device of the last scan is connected by its address alone, without another scan")
    func lastScanProvidesAddressType() async throws {
        let shell = try Shell()
        try shell.write(
            "services: [{uuid: 180f, characteristics: [{uuid: 2a19, properties: [read], value: {u8: 87}}]}]",
            to: "lamp.yaml")
        let (status, output) = try await shell.run(
            """
            bletool serve --json --adapter virtual:lamp --name Lamp lamp.yaml >served &
            bletool scan --adapter virtual:phone --name Lamp --count 1 --timeout 120s --json >found
            address=$(sed -n 's/.*"address":"\\([^"]*\\)".*/\\1/p' found)
            cat "$XDG_RUNTIME_DIR"/bletool/last-scan
            bletool gatt "$address" read 2a00 --adapter virtual:phone --capture taken.btsnoop
            status=$?
            bletool decode taken.btsnoop | grep -cE 'Set (Extended )?Scan Enable'
            kill $!
            exit $status
            """)
        #expect(status == 0)
        let lines = output.split(separator: "\n")
        #expect(lines.first?.hasSuffix("/random") == true)
        #expect(lines.contains("Lamp"))
        #expect(lines.last == "0")
    }
}
