import Glibc
import HCISocket
import SystemPackage
import Testing

struct NameClaimTests {
    /// A name of this process, so that runs beside each other do not meet.
    private static let name = "bletool-test-\(getpid())"

    @Test func oneAtATime() throws {
        var first = try NameClaim(Self.name)
        #expect(first != nil)
        #expect(try NameClaim(Self.name) == nil)
        #expect(try NameClaim(Self.name + "2") != nil)
        first = nil
        #expect(try NameClaim(Self.name) != nil)
    }

    /// Its number may be that of another thread's new descriptor by then.
    @Test func whatAFailedClaimOpenedIsClosedOnce() throws {
        let first = try NameClaim(Self.name + "3")
        #expect(first != nil)
        errno = 0
        let second = try NameClaim(Self.name + "3")
        let error = errno
        #expect(second == nil && error != EBADF)
    }

    @Test func aNameThatIsTooLong() throws {
        #expect(try NameClaim(String(repeating: "n", count: 107)) != nil)
        let error = #expect(throws: PortError.self) { try NameClaim(String(repeating: "n", count: 108)) }
        #expect(error?.errno == .fileNameTooLong)
    }
}
