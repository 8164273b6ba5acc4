import CLinux
import Glibc
import HCISocket
import SystemPackage
import TestSupport
import Testing

/// A Unix socket that receives messages. A name that begins with @ has no file.
private final class Receiver {
    let descriptor: CInt

    init(_ name: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var octets = Array(name.utf8)
        if octets.first == UInt8(ascii: "@") { octets[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + octets.count)
        let kind = SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        descriptor = socket(AF_UNIX, CInt(kind), 0)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(bound == 0)
    }

    deinit { close(descriptor) }

    /// Returns the next message, or nil if there is none.
    func next() -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: 1000)
        let count = recv(descriptor, &octets, octets.count, 0)
        return count < 0 ? nil : Array(octets.prefix(count))
    }
}

struct DatagramSocketsTests {
    /// The beginning of names without a file, which only this process uses.
    private let abstract = "@bletool-test-\(getpid())-"

    @Test("a message arrives whole, at a path or at an abstract name")
    func messageArrivesAtPathOrAbstractName() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for name in [folder.path("socket"), abstract + "a"] {
            let receiver = try Receiver(name)
            try DatagramSockets.send([1, 2, 3], to: name)
            try DatagramSockets.send("READY=1".utf8, to: name)
            #expect(receiver.next() == [1, 2, 3])
            #expect(receiver.next() == Array("READY=1".utf8))
            #expect(receiver.next() == nil)
        }
    }

    @Test("a name is limited to 107 octets, including the @")
    func overlongNamesAreRefused() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let long = abstract + String(repeating: "n", count: 107 - abstract.utf8.count)
        for name in [folder.path(ofCount: 107), long] {
            let receiver = try Receiver(name)
            try DatagramSockets.send([1], to: name)
            #expect(receiver.next() == [1])
            let error = PortError.system(.fileNameTooLong, during: "unix socket name \(name)n")
            #expect(throws: error) { try DatagramSockets.send([1], to: name + "n") }
        }
    }

    @Test("sending to a missing socket throws an error that names it")
    func missingReceiverIsNamed() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("socket")
        folder.remove()
        #expect(throws: PortError.system(.noSuchFileOrDirectory, during: "sending to \(path)")) {
            try DatagramSockets.send([1], to: path)
        }
        let name = abstract + "none"
        #expect(throws: PortError.system(.connectionRefused, during: "sending to \(name)")) {
            try DatagramSockets.send([1], to: name)
        }
    }

    @Test("sending to a full receiver fails instead of blocking")
    func fullReceiverDoesNotBlock() throws {
        let name = abstract + "full"
        let receiver = try Receiver(name)
        // The limit of the system, net.unix.max_dgram_qlen, is 10 by default, and some hundreds on some
        // systems.
        #expect(throws: PortError.system(.wouldBlock, during: "sending to \(name)")) {
            for _ in 0..<100_000 { try DatagramSockets.send([1], to: name) }
        }
        #expect(receiver.next() == [1])
        try DatagramSockets.send([2], to: name)
    }

    @Test("an overlong message is refused, not truncated")
    func overlongMessageIsRefused() throws {
        let name = abstract + "long"
        let receiver = try Receiver(name)
        #expect(throws: PortError.system(.messageTooLong, during: "sending to \(name)")) {
            try DatagramSockets.send([UInt8](repeating: 0, count: 8 << 20), to: name)
        }
        #expect(receiver.next() == nil)
    }
}
