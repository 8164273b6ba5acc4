import BLECore
import CLinux
import Glibc
import SystemPackage

/// A name in the network namespace that only one process can hold at a time, whatever its user: the name of
/// an abstract Unix socket (unix(7)). It is released when this object is deallocated or when the process
/// ends, however it ends.
package final class NameClaim: Sendable {
    private let descriptor: CInt

    /// Claims `name`, of at most 107 octets; nil if it is already claimed.
    package init?(_ name: String) throws(PortError) {
        let address = try Self.address(name)
        let socket = try Sockets.open(AF_UNIX, CLINUX_SOCK_STREAM, 0)
        // From here on `deinit` closes the socket, even if this initializer throws.
        descriptor = socket
        do throws(PortError) {
            try Sockets.bind(socket, to: address)
            // Processes that wait for the name connect, and are disconnected when the claim ends.
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
            // A name after a first octet of zero is abstract and has no file.
            guard name.utf8.count < path.count else { return false }
            path.dropFirst().copyBytes(from: name.utf8)
            return true
        }
        guard fits else { throw .system(.fileNameTooLong, during: "claiming \(name)") }
        return address
    }
}

extension NameClaim {
    /// Claims `name` once its holder releases it. Returns nil if that takes longer than `limit` on the loop's
    /// clock, if the task is cancelled, or if it is not possible to wait for the holder.
    package static func take(
        _ name: String, within limit: Duration, on loop: EventLoop
    ) async throws(PortError) -> NameClaim? {
        let end = loop.now + limit
        // A claim refuses connections when it has just ended or just begun, and when too many processes wait
        // for it. A socket that continues to refuse connections is not a claim of this library.
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

    /// Waits until a claim ends. Returns false if it does not end in time, and nil if it refuses connections.
    private static func ending(
        of name: String, within limit: Duration, on loop: EventLoop
    ) async throws(PortError) -> Bool? {
        let address = try address(name)
        let socket = try Sockets.open(AF_UNIX, CLINUX_SOCK_STREAM, 0)
        defer { Glibc.close(socket) }
        do throws(PortError) {
            // The claim's queue of waiting processes is full.
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

    /// Returns the claimed names in `sockets`, lines of /proc/net/unix, that begin with `prefix`.
    package static func names(beginningWith prefix: String, in sockets: String) -> [String] {
        sockets.split(separator: "\n").compactMap { line in
            guard let at = line.firstIndex(of: "@") else { return nil }
            // The kernel shows a zero octet as "@". A claim binds the whole of `sun_path`, so zeros follow
            // the name.
            let name = line[line.index(after: at)...].prefix { $0 != "@" }
            return name.hasPrefix(prefix) ? String(name) : nil
        }
    }
}
