import Glibc

@main
enum Main {
    static func main() async {
        // A reader that has gone is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // Ctrl-\ is somebody in a hurry, not a crash to report.
        signal(SIGQUIT, SIG_DFL)
        exit(await BLETool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
