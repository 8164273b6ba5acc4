import Glibc
import HCISocket

/// Reports when a file has grown (inotify(7)). It is made before the end of the file is looked for, so that nothing
/// is missed in between.
final class FileGrowth: Sendable {
    private let descriptor: CInt
    private let loop: EventLoop

    init(of path: String, on loop: EventLoop) throws(PortError) {
        self.loop = loop
        descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard descriptor >= 0 else { throw .system(.current, during: "inotify_init") }
        // From here on `deinit` closes it, also when this throws.
        guard inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
            throw .system(.current, during: "inotify_add_watch \(path)")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits until the file has changed since the last time; false when the task is cancelled.
    func next() async -> Bool {
        guard await loop.readiness(of: descriptor, for: .read) != nil else { return false }
        // All that happened is one change.
        var events = [UInt8](repeating: 0, count: 4096)
        while events.withUnsafeMutableBytes({ read(descriptor, $0.baseAddress, $0.count) }) > 0 {}
        return true
    }
}
