import Glibc

@main
enum Main {
    static func main() async {
        // A reader that has gone is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        exit(await BLETool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
