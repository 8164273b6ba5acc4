import Glibc
import SystemPackage

/// A file that one process at a time holds, and that is removed when it is released.
enum LockFile {
    /// Runs `body` while this process alone holds the file at `path`.
    static func holding<Result>(
        _ path: String, _ body: () throws(PortError) -> Result
    ) throws(PortError) -> Result {
        let descriptor = try take(path)
        defer {
            unlink(path)
            Glibc.close(descriptor)
        }
        return try body()
    }

    private static func take(_ path: String) throws(PortError) -> CInt {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .system(.current, during: "open \(path)") }
            guard flock(descriptor, LOCK_EX) == 0 else {
                let error = Errno.current
                Glibc.close(descriptor)
                throw .system(error, during: "flock \(path)")
            }
            // Who held it before has removed it: what we hold may not be the file that others find.
            var (held, found) = (stat(), stat())
            if fstat(descriptor, &held) == 0, stat(path, &found) == 0, held.st_ino == found.st_ino {
                return descriptor
            }
            Glibc.close(descriptor)
        }
    }
}
