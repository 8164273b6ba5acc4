import Glibc
import HCISocket
import Testing

@testable import bletool

/// The messages to systemd.
struct ServiceManagerTests {
    private static func manager(_ variables: [String: String]) -> ServiceManager? {
        ServiceManager(environment: { variables[$0] }, processID: 42)
    }

    @Test func thereIsOneWhereItSaysSo() {
        #expect(Self.manager([:]) == nil)
        #expect(Self.manager(["NOTIFY_SOCKET": "relative"]) == nil)
        #expect(Self.manager(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 107)]) == nil)
        #expect(Self.manager(["NOTIFY_SOCKET": "/run/notify"])?.watchdog == nil)
    }

    @Test(arguments: [
        ("3000000", nil, Duration.seconds(3)), ("3000000", "42", .seconds(3)), ("3000000", "43", nil),
        ("0", nil, nil), ("often", nil, nil),
    ])
    func theWatchdogIsWhoseProcessIsMeant(_ time: String, _ process: String?, _ watchdog: Duration?) {
        var variables = ["NOTIFY_SOCKET": "@abstract", "WATCHDOG_USEC": time]
        variables["WATCHDOG_PID"] = process
        #expect(Self.manager(variables)?.watchdog == watchdog)
    }

    @Test func itHearsWhatItIsTold() throws {
        let name = "bletool-test-\(getpid())-\(UInt32.random(in: .min ... .max))"
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: [0] + Array(name.utf8)) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        #expect(bound == 0)
        let manager = try #require(Self.manager(["NOTIFY_SOCKET": "@\(name)"]))
        #expect(manager.notify("READY=1"))
        var octets = [UInt8](repeating: 0, count: 100)
        let count = recv(descriptor, &octets, octets.count, CInt(MSG_DONTWAIT))
        #expect(String(decoding: octets.prefix(max(0, count)), as: UTF8.self) == "READY=1")
    }

    @Test func nobodyThereIsNoTrouble() throws {
        let manager = try #require(Self.manager(["NOTIFY_SOCKET": "/nowhere/notify"]))
        #expect(!manager.notify("READY=1"))
    }
}
