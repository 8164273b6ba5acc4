import ArgumentParser

/// A command that does something: its options say what, and `perform` does it.
protocol ToolCommand: ParsableCommand {
    var output: OutputOptions { get }

    /// Does it; what it finds goes to the console, why it could not is thrown.
    func perform(_ console: Console) async throws(Failure)
}
