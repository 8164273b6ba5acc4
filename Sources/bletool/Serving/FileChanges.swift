import Glibc
import HCISocket

/// Waits until a file has been written or replaced (inotify(7)), by any process. It need not be there yet; its folder must
/// be.
final class FileChanges: Sendable {
    private let descriptor: CInt
    private let loop: EventLoop
    private let name: String

    init(of path: String, on loop: EventLoop) throws(PortError) {
        self.loop = loop
        let slash = path.lastIndex(of: "/")
        name = String(slash.map { path[path.index(after: $0)...] } ?? path[...])
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard descriptor >= 0 else { throw .system(.current, during: "inotify_init") }
        let wanted = UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_ONLYDIR)
        guard inotify_add_watch(descriptor, folder, wanted) >= 0 else {
            let problem = PortError.system(.current, during: "inotify_add_watch \(folder)")
            close(descriptor)
            throw problem
        }
    }

    deinit { close(descriptor) }

    /// Waits until the file has changed since the last time; false when the task is cancelled.
    func next() async -> Bool {
        while await loop.readiness(of: descriptor, for: .read) != nil {
            var isChanged = false
            var octets = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = octets.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { break }
                for event in FolderWatch.events(octets[..<count]) {
                    switch event {
                    case .changed(_, let name): isChanged = isChanged || name == self.name
                    case .lost: isChanged = true
                    }
                }
            }
            if isChanged { return true }
        }
        return false
    }
}
