import CLinux
import Glibc
import SystemPackage

/// A serial port that connects to a controller.
package enum SerialLine {
    /// Opens the port at `path` exclusively for this process, and sets it to 8-bit characters without parity
    /// at `baud` bits per second in both directions, with RTS/CTS if `flowControl` is true.
    ///
    /// Discards what the line contains from before. EBUSY: another process has the port open.
    package static func open(_ path: String, baud: UInt32, flowControl: Bool) throws(PortError) -> CInt {
        // Non-blocking also because opening would otherwise wait for a carrier, which controllers do not
        // provide.
        let descriptor = Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(path)") }
        return try Sockets.closing(descriptor) { () throws(PortError) in
            try makeExclusive(descriptor, path)
            try configure(descriptor, baud: baud, flowControl: flowControl)
            discard(descriptor, TCIOFLUSH)
            return descriptor
        }
    }

    /// Discards what was written but not sent. Otherwise, closing a line whose other side accepts nothing
    /// would wait for half a minute.
    static func discardOutput(_ descriptor: CInt) { discard(descriptor, TCOFLUSH) }

    /// Returns whether the descriptor is a serial port or a pseudo terminal.
    static func isOne(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

    private static func makeExclusive(_ descriptor: CInt, _ path: String) throws(PortError) {
        // The lock excludes a second process of root, which TIOCEXCL does not.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = Errno.current
            throw .system(error == .wouldBlock ? .resourceBusy : error, during: "flock \(path)")
        }
        guard ioctl(descriptor, CLINUX_TIOCEXCL, 0) == 0 else {
            throw .system(.current, during: "ioctl TIOCEXCL")
        }
    }

    private static func configure(_ descriptor: CInt, baud: UInt32, flowControl: Bool) throws(PortError) {
        var settings = clinux_termios2()
        guard ioctl(descriptor, CLINUX_TCGETS2, &settings) == 0 else {
            throw .system(.current, during: "ioctl TCGETS2")
        }
        // No echo, no line editing, no special characters: octets are passed unchanged.
        (settings.c_iflag, settings.c_oflag, settings.c_lflag) = (0, 0, 0)
        settings.c_cflag = UInt32(CS8) | UInt32(CREAD) | UInt32(CLOCAL) | CLINUX_BOTHER
        if flowControl { settings.c_cflag |= CLINUX_CRTSCTS }
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            // With a minimum below one octet, an empty line would read as if it had ended.
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        (settings.c_ispeed, settings.c_ospeed) = (baud, baud)
        guard ioctl(descriptor, CLINUX_TCSETS2, &settings) == 0 else {
            throw .system(.current, during: "ioctl TCSETS2")
        }
    }

    private static func discard(_ descriptor: CInt, _ queue: CInt) {
        // This fails on a line that no longer exists, which has nothing to discard.
        _ = ioctl(descriptor, CLINUX_TCFLSH, queue)
    }
}
