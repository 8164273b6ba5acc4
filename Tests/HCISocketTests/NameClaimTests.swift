import Glibc
import HCISocket
import SystemPackage
import Testing

struct NameClaimTests {
    /// A name of this process, so that concurrent test runs do not conflict.
    private static let name = "bletool-test-\(getpid())"

    @Test func nameClaimIsExclusive() throws {
        var first = try NameClaim(Self.name)
        #expect(first != nil)
        #expect(try NameClaim(Self.name) == nil)
        #expect(try NameClaim(Self.name + "2") != nil)
        first = nil
        #expect(try NameClaim(Self.name) != nil)
    }

    /// A second close could close a new descriptor of another thread that has the same number.
    @Test func failedClaimClosesItsSocketOnce() throws {
        let first = try NameClaim(Self.name + "3")
        #expect(first != nil)
        errno = 0
        let second = try NameClaim(Self.name + "3")
        let error = errno
        #expect(second == nil && error != EBADF)
    }

    @Test func overlongNameIsRefused() throws {
        #expect(try NameClaim(String(repeating: "n", count: 107)) != nil)
        let error = #expect(throws: PortError.self) { try NameClaim(String(repeating: "n", count: 108)) }
        #expect(error?.errno == .fileNameTooLong)
    }

    @Test func waitingClaimTakesReleasedName() async throws {
        let loop = EventLoop.shared
        let name = Self.name + "/5"
        var first = try NameClaim(name)
        #expect(first != nil)
        #expect(try await NameClaim.take(name, within: .milliseconds(20), on: loop) == nil)
        let waiting = (0..<3).map { _ in
            Task { try await NameClaim.take(name, within: .seconds(300), on: loop) != nil }
        }
        first = nil
        for task in waiting { #expect(try await task.value) }
        // The claim does not wait for a socket of another program that has the name and does not listen.
        #expect(try await NameClaim.take(name, within: .zero, on: loop) != nil)
    }

    private func text(of path: String) throws -> String {
        let file = try FileDescriptor.open(FilePath(path), .readOnly)
        return try file.closeAfter {
            var octets: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = try part.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0 {
                octets += part.prefix(count)
            }
            return String(decoding: octets, as: UTF8.self)
        }
    }

    @Test func claimedNamesAreListed() throws {
        let claims = try ["6/a", "6/b:c", "7"].map { try NameClaim(Self.name + $0) }
        let sockets = try text(of: "/proc/net/unix")
        #expect(
            NameClaim.names(beginningWith: Self.name + "6/", in: sockets).sorted()
                == ["a", "b:c"].map { Self.name + "6/" + $0 })
        withExtendedLifetime(claims) {}
    }
}
