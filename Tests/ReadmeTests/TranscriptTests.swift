import Foundation
import Glibc
import ProgramTesting
import Testing

/// Runs the commands of docs/ten-tasks.md, and compares their output with that in the document.
struct TranscriptTests {
    private static let document = Readme.root.appending(path: "docs/ten-tasks.md")

    private static let transcript: Transcript = {
        // AF_BLUETOOTH, raw, HCI.
        let descriptor = socket(31, Int32(SOCK_RAW.rawValue), 1)
        if descriptor >= 0 { close(descriptor) }
        let text = (try? String(contentsOf: document, encoding: .utf8)) ?? ""
        return Transcript(text, hasBluetooth: descriptor >= 0)
    }()

    @Test func transcriptHasTenTasks() {
        let numbered = Self.transcript.chapters.map(\.title).filter { $0.contains(/^[0-9]+\.\s/) }
        #expect(numbered.count == 10)
    }

    @Test(.timeLimit(.minutes(10)), arguments: transcript.chapters)
    func outputMatchesTranscript(_ chapter: Transcript.Chapter) async throws {
        let air = try await TemporaryAir()
        let here = try Typist(["/bin/sh"], in: air.folder)
        var others: [String: Typist] = [:]
        for step in chapter.steps {
            switch step {
            case .file(let name, let text):
                try text.write(to: air.folder.appending(path: name), atomically: true, encoding: .utf8)
            case .session(nil, let exchanges):
                for exchange in exchanges {
                    guard case .command(let command) = exchange.typed else { continue }
                    try await here.finish(command)
                    await here.expect(exchange.shown, after: command)
                }
            case .session(let terminal?, let exchanges):
                for exchange in exchanges {
                    if case .command(let command) = exchange.typed {
                        others[terminal] = try Typist(["/bin/sh", "-c", "exec \(command)"], in: air.folder)
                    }
                    let typist = try #require(others[terminal])
                    if exchange.typed == .interrupt { typist.interrupt() }
                    await typist.expectNext(exchange.shown, at: terminal, isEnd: exchange.typed == .interrupt)
                }
            }
        }
    }
}

/// A program at one terminal, with its input and output.
private final class Typist {
    private let program: RunningProgram
    private var answer: [String] = []

    init(_ command: [String], in folder: URL) throws {
        program = try RunningProgram(command, in: folder, mergingErrors: true)
    }

    /// Runs a command in the shell, and reads the output until the command has ended.
    func finish(_ command: String) async throws {
        let end = "\u{1e}"
        // The next command has the value of $? that this command leaves.
        try program.type("{ \(command)\n} </dev/null\nstatus=$?; printf '\\036\\n'; (exit $status)\n")
        answer = []
        while let line = await program.line() {
            guard line.hasSuffix(end) else {
                answer.append(line)
                continue
            }
            if line != end { answer.append(String(line.dropLast())) }
            return
        }
        Issue.record("the shell has ended in \(command)")
    }

    /// Checks that the complete output of the command is `shown`.
    func expect(_ shown: [String], after command: String) async {
        var rest = answer[...]
        await match(shown, at: command) { rest.popFirst() }
        if shown.last != Transcript.anything { #expect(rest.isEmpty, "$ \(command) prints more: \(rest)") }
    }

    /// Checks that the next output of the program is `shown`. If `isEnd`, no other output may follow.
    func expectNext(_ shown: [String], at terminal: String, isEnd: Bool) async {
        await match(shown, at: terminal) { await self.program.line() }
        guard isEnd, shown.last != Transcript.anything else { return }
        let more = await program.line()
        #expect(more == nil, "\(terminal) prints more")
    }

    func interrupt() { program.signal(SIGINT) }

    private func match(_ shown: [String], at place: String, _ next: () async -> String?) async {
        var skips = false
        for expected in shown {
            if expected == Transcript.anything {
                skips = true
                continue
            }
            let wanted = Transcript.constant(expected)
            var line = await next()
            while skips, let other = line, Transcript.constant(other) != wanted { line = await next() }
            #expect(line.map(Transcript.constant) == wanted, "\(place) should show: \(expected)")
            skips = false
        }
    }
}
