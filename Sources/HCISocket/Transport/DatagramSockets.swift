import CLinux
import Glibc
import SystemPackage

/// Single messages to sockets on this machine.
package enum DatagramSockets {
    /// Sends a message to a Unix socket without waiting. `name` is a path, or an abstract name after @.
    package static func send(_ message: some Sequence<UInt8>, to name: String) throws(PortError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var octets = Array(name.utf8)
        // An abstract name begins with a zero octet and is delimited only by its length.
        if octets.first == UInt8(ascii: "@") { octets[0] = 0 }
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room -> Bool in
            guard octets.count < room.count else { return false }
            room.copyBytes(from: octets)
            return true
        }
        guard fits else { throw .system(.fileNameTooLong, during: "unix socket name \(name)") }
        let descriptor = try Sockets.open(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        let message = Array(message)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + octets.count)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, CInt(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent == message.count else { throw .system(.current, during: "sending to \(name)") }
    }
}
