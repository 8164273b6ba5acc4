import Glibc

/// The entry of the program. It is not `async`: the runtime would end the main thread, and what is left of
/// it takes signals that everybody else blocks.
@main
enum Main {
    static func main() {
        Interruption.prepare()
        // Detached: a task that inherits this thread's actor would wait for this thread.
        Task.detached { exit(await BLETool.run(Array(CommandLine.arguments.dropFirst())).rawValue) }
        // Nothing wakes it, since all signals that could are blocked.
        while true { pause() }
    }
}
