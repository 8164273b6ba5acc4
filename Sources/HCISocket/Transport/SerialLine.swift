import CLinux
import Glibc
import SystemPackage

/// A serial port with a controller behind it.
package enum SerialLine {
    /// Opens the port at `path` for this process alone, and sets it to whole octets at `baud` bits per second
    /// in both directions, without parity; with RTS/CTS where `flowControl` says so.
    ///
    /// What the line held from before is thrown away. EBUSY: another process has it.
    package static func open(_ path: String, baud: UInt32, flowControl: Bool) throws(PortError) -> CInt {
        // Non-blocking also because opening would wait for a carrier, which no controller gives.
        let descriptor = Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(.current, during: "open \(path)") }
        return try Sockets.closing(descriptor) { () throws(PortError) in
            try makeExclusive(descriptor, path)
            try configure(descriptor, baud: baud, flowControl: flowControl)
            discard(descriptor, TCIOFLUSH)
            return descriptor
        }
    }

    /// Throws away what was written and is not sent: closing a line whose other side takes nothing would wait
    /// for it, for half a minute.
    static func discardOutput(_ descriptor: CInt) { discard(descriptor, TCOFLUSH) }

    /// Whether the descriptor is a serial port or a pseudo terminal.
    static func isOne(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

    private static func makeExclusive(_ descriptor: CInt, _ path: String) throws(PortError) {
        // The lock keeps out a second process of root, which TIOCEXCL lets in.
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
        // No echo, no line editing, no characters that mean something: octets as they come.
        (settings.c_iflag, settings.c_oflag, settings.c_lflag) = (0, 0, 0)
        settings.c_cflag = UInt32(CS8) | UInt32(CREAD) | UInt32(CLOCAL) | CLINUX_BOTHER
        if flowControl { settings.c_cflag |= CLINUX_CRTSCTS }
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            // With less than one octet to wait for, an empty line would read as one that has ended.
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        (settings.c_ispeed, settings.c_ospeed) = (baud, baud)
        guard ioctl(descriptor, CLINUX_TCSETS2, &settings) == 0 else {
            throw .system(.current, during: "ioctl TCSETS2")
        }
    }

    private static func discard(_ descriptor: CInt, _ queue: CInt) {
        // Fails on a line that is gone, which has nothing to discard.
        _ = ioctl(descriptor, CLINUX_TCFLSH, queue)
    }
}
