import Glibc

/// A claim of a file by the process that writes to it, as a lock of the open file description (fcntl(2)).
///
/// The claim ends when the descriptor is closed, at the latest with the process. File systems without locks have
/// no claims.
enum FileClaim {
    /// F_OFD_GETLK and F_OFD_SETLK, which the module Glibc lacks.
    private static let (get, set) = (CInt(36), CInt(37))

    /// Claims the file of a descriptor that is open for writing. Returns false if the file is claimed already.
    static func claim(_ descriptor: CInt) -> Bool {
        var lock = lock(F_WRLCK)
        return fcntl(descriptor, set, &lock) == 0 || (errno != EAGAIN && errno != EACCES)
    }

    /// Ends the claim of a descriptor.
    static func end(_ descriptor: CInt) {
        var lock = lock(F_UNLCK)
        _ = fcntl(descriptor, set, &lock)
    }

    /// Returns whether a file is claimed.
    static func isTaken(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return isTaken(descriptor)
    }

    /// Returns whether another process has claimed an open file.
    static func isTaken(_ descriptor: CInt) -> Bool {
        var lock = lock(F_WRLCK)
        return fcntl(descriptor, get, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Returns a lock of a whole file.
    private static func lock(_ type: CInt) -> flock {
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(type), Int16(SEEK_SET))
        return lock
    }
}
