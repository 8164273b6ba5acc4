import Glibc

/// The entry of the program.
@main
enum Main {
    static func main() async {
        // A reader that goes away is an error of the write, so that what was started can be undone.
        signal(SIGPIPE, SIG_IGN)
        exit(await BLETool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
