import CLinux
import Glibc
import SystemPackage

/// A file that one process at a time can hold. A process that ends releases it.
final class DiskClaim: @unchecked Sendable {
    // Sendable: mutable state is only accessed between lock and unlock of `mutex`, which, like `change`,
    // never moves.

    private let descriptor: CInt
    private let path: String
    private let timeLimit: Duration

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Whether a thread waits in `flock`, which has no time limit: perhaps longer than the call that needs the file.
    private var isAsking = false
    /// Whether a call waits for the result of that thread.
    private var isWanted = false
    /// The result of the thread: nil while it waits, then 0 or the error.
    private var outcome: CInt?

    /// Creates a claim to an open file. `holding` fails after `timeLimit`, if another process holds the file.
    init(_ descriptor: CInt, _ path: String, _ timeLimit: Duration) {
        self.descriptor = descriptor
        self.path = path
        self.timeLimit = timeLimit
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(change, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(change)
        pthread_mutex_destroy(mutex)
        change.deallocate()
        mutex.deallocate()
        close(descriptor)
    }

    /// Runs `body` while no other claim holds the file. Other claims hold it for as long as it takes to write
    /// some files. Only one call at a time.
    func holding<Result>(_ body: () throws(StateError) -> Result) throws(StateError) -> Result {
        try take()
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }

    /// Takes the file until `release` or the end of this object, and writes the process ID to it. Returns false
    /// when another claim has it.
    func own() throws(StateError) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { return false }
            throw .system(.current, during: "flock \(path)")
        }
        // For people, and for the error message of a later process; no code depends on it. A hard link would be
        // another file, too.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink == 1 else { return true }
        let number = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = number.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return true
    }

    /// Releases the file that `own` has taken.
    func release() { flock(descriptor, LOCK_UN) }

    private func take() throws(StateError) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if !isAsking {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw .system(.current, during: "flock \(path)")
            }
            try ask()
        }
        isWanted = true
        defer { isWanted = false }
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = timeLimit.components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        while outcome == nil {
            if pthread_cond_timedwait(change, mutex, &end) != 0, outcome == nil {
                throw .claimed(path: path, after: timeLimit)
            }
        }
        guard let outcome = outcome.take(), outcome != 0 else { return }
        throw .system(Errno(rawValue: outcome), during: "flock \(path)")
    }

    /// Starts a thread that waits for the file. The call that waits at that time gets the file; without one,
    /// the file is released.
    private func ask() throws(StateError) {
        outcome = nil
        let box = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { box in
                if let box { Unmanaged<DiskClaim>.fromOpaque(box).takeRetainedValue().wait() }
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw .system(Errno(rawValue: code), during: "pthread_create")
        }
        pthread_detach(thread)
        isAsking = true
    }

    /// Waits for the lock of the file, on a thread of its own.
    private func wait() {
        var code: CInt = 0
        while flock(descriptor, LOCK_EX) != 0, code == 0 { code = errno == EINTR ? 0 : errno }
        pthread_mutex_lock(mutex)
        isAsking = false
        if isWanted {
            outcome = code
        } else if code == 0 {
            flock(descriptor, LOCK_UN)
        }
        pthread_cond_signal(change)
        pthread_mutex_unlock(mutex)
    }
}
