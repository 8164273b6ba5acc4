import Glibc
import HCISocket

extension LineWriter {
    /// Waits until what is written has no reader any more: the other end of a pipe or socket is closed, as by
    /// `head`. A file and a terminal always have a reader; then only cancelling the task ends the wait.
    func readerHasGone() async {
        if let copy = pipe {
            defer { close(copy) }
            // No interest of its own: the end of the other side is always reported.
            if await EventLoop.shared.readiness(of: copy, for: []) != nil { return }
        }
        _ = await EventLoop.shared.sleep(for: .seconds(Int64.max))
    }

    /// A descriptor of the wait's own, for what can lose its reader.
    private var pipe: Int32? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            return nil
        }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? copy : nil
    }
}
