import BLE
import Glibc
import SystemPackage

/// The common parts of a small program: opening an adapter, printing lines, and reporting an error at the
/// end.
public enum Program {
    /// Runs `body` with the remaining arguments on the adapter that the program's first argument names
    /// (`hci0`, `virtual:kitchen`…), or on the kernel's first adapter. Ctrl-C ends the program cleanly. With
    /// `reopening`, `body` runs again after the adapter was switched off, as soon as the adapter has power
    /// again. `options` returns the options of the adapter for the arguments.
    public static func run(
        reopening: Bool = false,
        options: @Sendable (_ arguments: [String]) async throws -> AdapterOptions = { _ in AdapterOptions() },
        _ body: @escaping @Sendable (Adapter, _ arguments: [String]) async throws -> Void
    ) async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            let wanted = try arguments.first.map { try AdapterSpecification($0) }
            let options = try await options(Array(arguments.dropFirst()))
            try await withAdapter(wanted, options: options, reopens: reopening) { adapter in
                try await body(adapter, Array(arguments.dropFirst()))
            }
        } catch {
            write("\(CommandLine.arguments[0]): \(error)\n", to: .standardError)
            exit(1)
        }
    }

    /// Prints a line immediately, even if the output is a pipe.
    public static func printLine(_ line: String) { write("\(line)\n", to: .standardOutput) }

    /// Prints the octets unchanged, without a newline.
    public static func print(octets: [UInt8]) { _ = try? FileDescriptor.standardOutput.writeAll(octets) }

    private static func write(_ text: String, to output: FileDescriptor) {
        _ = try? output.writeAll(text.utf8)
    }
}

/// The error for an invalid command line.
public struct Usage: Error, CustomStringConvertible {
    /// The message for the user.
    public let description: String

    /// Creates the error with a message for the user.
    public init(_ description: String) { self.description = description }
}
