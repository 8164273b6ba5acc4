import Glibc
import HCISocket
import Testing

@testable import bletool

/// The messages to systemd.
struct ServiceManagerTests {
    private static func manager(_ variables: [String: String]) -> ServiceManager? {
        ServiceManager(environment: { variables[$0] }, processID: 42)
    }

    @Test func managerRequiresValidNotifySocket() {
        #expect(Self.manager([:]) == nil)
        #expect(Self.manager(["NOTIFY_SOCKET": "relative"]) == nil)
        #expect(Self.manager(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 107)]) == nil)
        #expect(Self.manager(["NOTIFY_SOCKET": "/run/notify"])?.watchdog == nil)
    }

    @Test(arguments: [
        ("3000000", nil, Duration.seconds(3)), ("3000000", "42", .seconds(3)), ("3000000", "43", nil),
        ("0", nil, nil), ("often", nil, nil),
    ])
    func watchdogAppliesToNamedProcess(_ time: String, _ process: String?, _ watchdog: Duration?) {
        var variables = ["NOTIFY_SOCKET": "@abstract", "WATCHDOG_USEC": time]
        variables["WATCHDOG_PID"] = process
        #expect(Self.manager(variables)?.watchdog == watchdog)
    }

    @Test func notifyDeliversMessage() throws {
        let socket = try NotifySocket()
        let manager = try #require(Self.manager(["NOTIFY_SOCKET": socket.name]))
        #expect(manager.notify("READY=1"))
        #expect(socket.next() == "READY=1")
    }

    @Test("a service without a watchdog reports only its end, once")
    func serviceEndIsReportedOnce() async throws {
        let socket = try NotifySocket()
        let manager = try #require(Self.manager(["NOTIFY_SOCKET": socket.name]))
        await manager.keepAlive(on: .shared)
        #expect(socket.next() == nil)
        let result = await manager.notifyingEnd {
            #expect(socket.next() == nil)
            return 7
        }
        #expect(result == 7)
        #expect(socket.next() == "STOPPING=1")
        #expect(socket.next() == nil)
    }

    @Test("a cancelled service reports its end before it has ended")
    func cancelledServiceReportsStopping() async throws {
        let socket = try NotifySocket()
        let manager = try #require(Self.manager(["NOTIFY_SOCKET": socket.name]))
        let isCancelled = Lock(false)
        let service = Task {
            await manager.notifyingEnd {
                while !isCancelled.withLock({ $0 }) { await Task.yield() }
                return socket.next()
            }
        }
        // Returns after the report, which can follow `Task.isCancelled`.
        service.cancel()
        isCancelled.withLock { $0 = true }
        #expect(await service.value == "STOPPING=1")
        #expect(socket.next() == nil)
    }

    @Test("serve reports READY when ready, and STOPPING only when it stops", arguments: [nil, "3600000000"])
    func serveReportsReadyAndStopping(_ watchdog: String?) async throws {
        let shell = try Shell()
        try shell.write(
            "{name: Lamp, services: [{uuid: 180f, characteristics: [{uuid: 2a19, properties: [read], value: {u8: 87}}]}]}",
            to: "lamp.yaml")
        try await offThePool {
            let socket = try NotifySocket()
            var environment = ["NOTIFY_SOCKET": socket.name]
            environment["WATCHDOG_USEC"] = watchdog
            let server = try PseudoTerminal(
                shell, ["bletool", "serve", "lamp.yaml", "--adapter", "virtual:lamp"],
                environment: environment)
            try server.expect("on virtual:lamp")
            #expect(socket.wait()?.hasPrefix("READY=1\nSTATUS=") == true)
            if watchdog != nil { #expect(socket.wait() == "WATCHDOG=1") }
            let client = try PseudoTerminal(
                shell, ["bletool", "gatt", "name:Lamp", "read", "2a19", "--adapter", "virtual:phone"])
            #expect(try client.end() == 0)
            #expect(socket.next() == nil)
            server.signal(SIGTERM)
            #expect(socket.wait() == "STOPPING=1")
            #expect(try server.end() == -SIGTERM)
            #expect(socket.next() == nil)
        }
    }

    @Test("maintain reports READY while it waits for its device, with its last message as status")
    func maintainReportsReadyAndStatus() async throws {
        let shell = try Shell()
        try await offThePool {
            let socket = try NotifySocket()
            let gateway = try PseudoTerminal(
                shell, ["bletool", "maintain", "C0:00:00:00:00:01/random", "--adapter", "virtual:gateway"],
                environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "3600000000"])
            #expect(socket.wait() == "READY=1\nSTATUS=waiting for C0:00:00:00:00:01/random")
            #expect(socket.wait() == "WATCHDOG=1")
            gateway.signal(SIGTERM)
            #expect(socket.wait() == "STOPPING=1")
            #expect(try gateway.end() == -SIGTERM)
        }
    }

    @Test func notifyReturnsFalseWithoutManager() throws {
        let manager = try #require(Self.manager(["NOTIFY_SOCKET": "/nowhere/notify"]))
        #expect(!manager.notify("READY=1"))
    }
}

/// A socket for the messages of services, as systemd has one.
private final class NotifySocket: Sendable {
    /// The value of NOTIFY_SOCKET.
    let name: String
    private let descriptor: CInt

    init() throws {
        let name = "bletool-test-\(getpid())-\(UInt32.random(in: .min ... .max))"
        self.name = "@\(name)"
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: [0] + Array(name.utf8)) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(bound == 0)
    }

    deinit { close(descriptor) }

    /// Returns the next message that is available, or nil if there is none.
    func next() -> String? {
        var octets = [UInt8](repeating: 0, count: 1000)
        let count = recv(descriptor, &octets, octets.count, CInt(MSG_DONTWAIT))
        return count >= 0 ? String(decoding: octets.prefix(count), as: UTF8.self) : nil
    }

    /// Waits for the next message for at most three minutes, and returns it.
    func wait() -> String? {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, 180_000) > 0 ? next() : nil
    }
}
