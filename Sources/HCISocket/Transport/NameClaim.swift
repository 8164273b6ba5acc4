import BLECore
import CLinux
import Glibc
import SystemPackage

/// A name that one process at a time has among those of the network namespace, of whatever user: that of an
/// abstract Unix socket (unix(7)). It ends with this object, and with the process however that ends.
package final class NameClaim: Sendable {
    private let descriptor: CInt

    /// Claims `name`, of at most 107 octets; nil when it is taken.
    package init?(_ name: String) throws(PortError) {
        let address = try Self.address(name)
        let socket = try Sockets.open(AF_UNIX, CLINUX_SOCK_STREAM, 0)
        // From here on `deinit` closes it, also when this throws.
        descriptor = socket
        do throws(PortError) {
            try Sockets.bind(socket, to: address)
            // Those who wait for the name connect, and are disconnected when it ends.
            try Sockets.listen(socket)
        } catch {
            guard error.errno == .addressInUse else { throw error }
            return nil
        }
    }

    deinit { Glibc.close(descriptor) }

    private static func address(_ name: String) throws(PortError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { path in
            // Behind a first octet of zero, the name has no file.
            guard name.utf8.count < path.count else { return false }
            path.dropFirst().copyBytes(from: name.utf8)
            return true
        }
        guard fits else { throw .system(.fileNameTooLong, during: "claiming \(name)") }
        return address
    }
}

extension NameClaim {
    /// Claims `name` once its holder releases it; nil when that takes longer than `limit` by the loop's clock, when the
    /// task is cancelled, and when it cannot be waited for.
    package static func take(
        _ name: String, within limit: Duration, on loop: EventLoop
    ) async throws(PortError) -> NameClaim? {
        let end = loop.now + limit
        // A claim that has just ended refuses connections, and one that has just begun. One that goes on doing so is
        // no claim of this library's. One for which too many wait refuses, too.
        var refusals = 0
        while true {
            if let claim = try NameClaim(name) { return claim }
            let left = loop.now.duration(until: end)
            guard left > .zero, refusals < 100 else { return nil }
            switch try await ending(of: name, within: left, on: loop) {
            case true?: break
            case false?: return try NameClaim(name)
            case nil:
                refusals += 1
                guard await loop.sleep(for: .milliseconds(10)) else { return nil }
            }
        }
    }

    /// Waits until a claim ends; false when it has not, and nil when it refuses connections.
    private static func ending(
        of name: String, within limit: Duration, on loop: EventLoop
    ) async throws(PortError) -> Bool? {
        let address = try address(name)
        let socket = try Sockets.open(AF_UNIX, CLINUX_SOCK_STREAM, 0)
        defer { Glibc.close(socket) }
        do throws(PortError) {
            // More wait than it has places for.
            guard try Sockets.connect(socket, to: address) else { return nil }
        } catch {
            return nil
        }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await loop.readiness(of: socket, for: []) != nil }
            group.addTask {
                _ = await loop.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// Those of `names`, lines of /proc/net/unix, that are claimed and begin with `prefix`.
    package static func names(beginningWith prefix: String, in sockets: String) -> [String] {
        sockets.split(separator: "\n").compactMap { line in
            guard let at = line.firstIndex(of: "@") else { return nil }
            // The kernel shows an octet of zero as "@", and the name is filled up with those.
            let name = line[line.index(after: at)...].prefix { $0 != "@" }
            return name.hasPrefix(prefix) ? String(name) : nil
        }
    }
}
