import Glibc

/// The entry of the program.
@main
enum Main {
    static func main() async {
        Interruption.prepare()
        exit(await BLETool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
