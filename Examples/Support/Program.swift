import BLE
import Glibc
import SystemPackage

/// What a small program needs around its work: an adapter, lines of text, and an end that says why.
public enum Program {
    /// Runs `body` on the adapter that the program's first argument names (`hci0`, `virtual:kitchen`…), or on the first of
    /// the kernel, with the arguments after it. Ctrl-C ends it cleanly.
    public static func run(
        _ body: @escaping @Sendable (Adapter, _ arguments: [String]) async throws -> Void
    ) async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            let wanted = try arguments.first.map { try AdapterSpecification($0) }
            try await withAdapter(wanted) { adapter in
                try await body(adapter, Array(arguments.dropFirst()))
            }
        } catch {
            write("\(CommandLine.arguments[0]): \(error)\n", to: .standardError)
            exit(1)
        }
    }

    /// Prints a line, at once also where the output is a pipe.
    public static func say(_ line: String) { write("\(line)\n", to: .standardOutput) }

    /// Prints octets as they are.
    public static func say(octets: [UInt8]) { _ = try? FileDescriptor.standardOutput.writeAll(octets) }

    private static func write(_ text: String, to output: FileDescriptor) {
        _ = try? output.writeAll(text.utf8)
    }
}

/// A command line that makes no sense.
public struct Usage: Error, CustomStringConvertible {
    /// What is to be said instead.
    public let description: String

    /// That, for a person.
    public init(_ description: String) { self.description = description }
}
