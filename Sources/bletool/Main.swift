import Glibc

@main
enum Main {
    static func main() async {
        // If the reader of the output has gone, the write fails, but the process does not end.
        signal(SIGPIPE, SIG_IGN)
        // A user who presses Ctrl-\ ends the process, which is not a crash to report.
        signal(SIGQUIT, SIG_DFL)
        keepStandardDescriptors()
        exit(await BLETool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
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
