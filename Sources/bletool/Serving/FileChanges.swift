import Glibc
import HCISocket

/// Waits until any process has written or replaced a file (inotify(7)). The file need not exist yet, but its
/// folder must.
final class FileChanges: Sendable {
    /// The change since the last call.
    enum Change {
        /// The file was written or replaced.
        case written
        /// Its folder was removed, moved or unmounted: nothing more is reported.
        case folderGone
    }

    private let descriptor: CInt
    private let loop: EventLoop
    private let name: String

    init(of path: String, on loop: EventLoop) throws(PortError) {
        self.loop = loop
        let slash = path.lastIndex(of: "/")
        name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        // From here on, `deinit` closes the descriptor, also when this initializer throws.
        descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard descriptor >= 0 else { throw .system(.current, during: "inotify_init") }
        let wanted =
            UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
            | UInt32(IN_ONLYDIR)
        guard inotify_add_watch(descriptor, folder, wanted) >= 0 else {
            throw .system(.current, during: "inotify_add_watch \(folder)")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits for a change. Returns nil when the task is cancelled.
    func next() async -> Change? {
        while await loop.readiness(of: descriptor, for: .read) != nil {
            var change: Change?
            var octets = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = octets.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { break }
                for event in FolderWatch.events(octets[..<count]) {
                    switch event {
                    case .changed(_, let name) where name != self.name: break
                    case .changed, .lost: change = change ?? .written
                    case .gone: change = .folderGone
                    }
                }
            }
            if let change { return change }
        }
        return nil
    }
}
