import CLinux
import Glibc
import SystemPackage

/// A name that one process at a time has among those of the network namespace, of whatever user: that of an
/// abstract Unix socket (unix(7)). It ends with this object, and with the process however that ends.
public final class NameClaim: Sendable {
    private let descriptor: CInt

    /// Claims `name`, of at most 107 octets; nil when somebody has it.
    public init?(_ name: String) throws(PortError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { path in
            // Behind a first octet of zero, the name has no file.
            guard name.utf8.count < path.count else { return false }
            path.dropFirst().copyBytes(from: name.utf8)
            return true
        }
        guard fits else { throw .system(.fileNameTooLong, during: "claiming \(name)") }
        let socket = try Sockets.open(AF_UNIX, CLINUX_SOCK_STREAM, 0)
        // From here on `deinit` closes it, also when this throws.
        descriptor = socket
        do throws(PortError) {
            try Sockets.bind(socket, to: address)
        } catch {
            guard error.errno == .addressInUse else { throw error }
            return nil
        }
    }

    deinit { Glibc.close(descriptor) }
}
