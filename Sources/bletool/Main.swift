import CLinux
import Glibc

@main
enum Main {
    static func main() {
        // If the reader of the output has gone, the write fails, but the process does not end.
        signal(SIGPIPE, SIG_IGN)
        // A user who presses Ctrl-\ ends the process, which is not a crash to report.
        signal(SIGQUIT, SIG_DFL)
        keepStandardDescriptors()
        keepCapabilities()
        BLETool.runAndExit(Array(CommandLine.arguments.dropFirst()))
    }

    /// Removes the capabilities of this process from what the programs that it starts inherit. A service has
    /// ambient capabilities (capabilities(7)), which would otherwise let a shell script that handles octets of
    /// strangers configure the network. This process keeps its own capabilities.
    ///
    /// Call this before other threads exist, because capabilities belong to threads.
    private static func keepCapabilities() {
        var header = __user_cap_header_struct(version: UInt32(_LINUX_CAPABILITY_VERSION_3), pid: 0)
        var sets = [__user_cap_data_struct](repeating: .init(), count: Int(_LINUX_CAPABILITY_U32S_3))
        guard capget(&header, &sets) == 0, sets.contains(where: { $0.inheritable != 0 }) else { return }
        // The kernel removes from the ambient set what is not inheritable.
        for index in sets.indices { sets[index].inheritable = 0 }
        capset(&header, &sets)
    }

    /// Opens /dev/null in place of standard descriptors that are closed. Otherwise, a socket could get one of
    /// their numbers, and be read or written as input or output. Writing to such a descriptor fails, as it
    /// would without this.
    private static func keepStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // `open` returns the lowest free number, which is this one. It is read-only, so writing to it
            // fails.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}
