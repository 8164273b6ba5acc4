import Glibc

@main
enum Main {
    static func main() async {
        // A reader that has gone is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // Ctrl-\ is a user in a hurry, not a crash to report.
        signal(SIGQUIT, SIG_DFL)
        keepStandardDescriptors()
        exit(await BLETool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Opens /dev/null in place of standard descriptors that are closed: a socket that got one of their
    /// numbers would be read or written as input or output. What is printed on a closed one fails, as it
    /// would without this.
    private static func keepStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free, so this one. None can be written to.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}
