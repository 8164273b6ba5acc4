import Glibc
import HCISocket
import SystemPackage

/// The socket of an air that processes join.
package struct AirPlace: Sendable {
    /// The path of the socket.
    package let path: String
    /// The folder that contains the socket, if it is the user's own. Nil for all other paths, which are used as
    /// they are.
    package let folder: OpenFolder?

    package var address: StreamAddress { .unix(path: path) }

    /// Finds the place with this path; nil is the one that all processes of this user share: $BLETOOL_AIR if
    /// it is set, otherwise a socket in a folder that only the user can enter. That folder is created if it is
    /// missing and `creates` is true.
    package init(_ path: String? = nil, creates: Bool = true) throws(BLEError) {
        let own = "\(UserFolder.runtimePath)/air"
        self.path = path ?? Self.variable ?? own
        guard self.path == own else {
            folder = nil
            return
        }
        do throws(FolderError) {
            folder = try UserFolder.runtime(creates: creates)
        } catch {
            throw .port(PortError(error))
        }
        // Without its folder, the socket does not exist. The path must not be used, because another user could
        // make a folder there.
        if folder == nil { throw .port(.system(.noSuchFileOrDirectory, during: "open \(own)")) }
    }

    /// The value of $BLETOOL_AIR; nil if it is not set or empty.
    private static var variable: String? {
        getenv("BLETOOL_AIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
