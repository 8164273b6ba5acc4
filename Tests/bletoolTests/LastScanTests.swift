import BLECore
import Foundation
import HCISocket
import Testing

@testable import bletool

struct LastScanTests {
    private static let one = DeviceAddress(0xc102_0304_0506, type: .random)
    private static let two = DeviceAddress(0x0001_0203_0405, type: .public)

    @Test func addressIsFoundByItsValue() throws {
        try withFolder { folder in
            let scan = LastScan(in: folder)
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
        try withFolder { folder in
            let other = DeviceAddress(Self.one.value, type: .public)
            LastScan(in: folder).keep([Self.one, other])
            #expect(Set(LastScan(in: folder).addresses(Self.one.value)) == [Self.one, other])
        }
    }

    @Test(arguments: ["", "\n\n", "nonsense", "C1:02:03:04:05:06", "\u{0}"])
    func invalidFileContentYieldsNoAddress(_ text: String) throws {
        try withFolder { folder in
            try text.write(toFile: folder.path(of: "last-scan"), atomically: true, encoding: .utf8)
            #expect(LastScan(in: folder).addresses(Self.one.value) == [])
        }
    }

    @Test("a link in place of the file is neither read nor followed when the file is replaced")
    func linkIsNotFollowed() throws {
        try withFolder { folder in
            let other = folder.path(of: "other")
            try "\(Self.one)\n".write(toFile: other, atomically: true, encoding: .utf8)
            #expect(symlink(other, folder.path(of: "last-scan")) == 0)
            #expect(LastScan(in: folder).addresses(Self.one.value) == [])
            LastScan(in: folder).keep([Self.two])
            #expect(LastScan(in: folder).addresses(Self.two.value) == [Self.two])
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "\(Self.one)\n")
        }
    }

    @Test("without a folder of this user no scan is stored, and the scan does not fail")
    func scanWithoutFolderIsNotStored() {
        let scan = LastScan(in: nil)
        scan.keep([Self.one])
        #expect(scan.addresses(Self.one.value) == [])
    }

    @Test("the virtual air is refused in a folder that is a link, and a scan elsewhere writes nothing there")
    func folderThatIsLinkIsRefused() async throws {
        let shell = try Shell()
        let (status, output) = try await shell.run(
            """
            mkfifo listening
            bletool air --listen unix:air --json >listening &
            read -r line <listening
            mkdir away home
            ln -s ../away home/bletool
            export XDG_RUNTIME_DIR=$PWD/home
            unset BLETOOL_AIR
            bletool scan --adapter virtual --timeout 1s --json
            status=$?
            BLETOOL_AIR=$XDG_RUNTIME_DIR/bletool/air bletool scan --adapter virtual --timeout 1s && echo joined
            bletool air --listen unix:$XDG_RUNTIME_DIR/bletool/air --timeout 1s && echo served
            bletool scan --adapter unix:air --timeout 1s --log-level warning 2>&1
            ls away
            kill $!
            exit $status
            """)
        #expect(status == 4)
        #expect(output.split(separator: "\n").count { $0.contains("home/bletool is a link or a file") } >= 4)
        #expect(!output.contains("joined") && !output.contains("served"))
        #expect(output.contains("the last scan is not kept"))
        #expect(!output.contains("last-scan"))
    }

    /// Runs `body` with a folder for files of this program.
    private func withFolder(_ body: (OpenFolder) throws -> Void) throws {
        try withTemporaryPath { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            let parent = try OpenFolder(path)
            try parent.make("bletool")
            try body(try #require(try parent.privateFolder("bletool")))
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
