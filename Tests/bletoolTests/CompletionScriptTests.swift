import ArgumentParser
import Foundation
import Testing

@testable import bletool

/// Completion in the user's shell: the verbs of `gatt` and their options after the device, as on the command
/// line.
struct CompletionScriptTests {
    private static func isInstalled(_ shell: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\(shell)")
    }

    /// The scripts of all shells. The parser takes long to generate them.
    private static let scripts = Dictionary(
        uniqueKeysWithValues: CompletionShell.allCases.map { shell in
            let generated = BLETool.completionScript(for: shell)
            let script = CompletionScript(generated: generated).text
            #expect(script.utf8.count > generated.utf8.count, "the parser's script is not what it was")
            return (shell.rawValue, script)
        })

    /// Returns a shell whose folder contains the completion script.
    private static func shell(_ name: String) throws -> Shell {
        let shell = try Shell()
        try shell.write(try #require(scripts[name]), to: "script")
        return shell
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionScriptHasValidSyntax(_ name: String) async throws {
        let shell = try Self.shell(name)
        guard Self.isInstalled(name) else { return }
        let result = try await shell.run(
            name == "fish" ? "fish --no-config --no-execute script" : "\(name) -n script")
        #expect(result.status == 0, "\(result.output)")
    }

    /// The words into which bash splits a line, and the words that it offers. Bash splits addresses at their
    /// colons.
    @Test(arguments: [
        ("gatt AA : BB : CC ''", "tree read write notify info dump run shell"), ("gatt X w", "write"),
        ("gatt AA : BB : CC read --fo", "--format"), ("gatt read X --fo", "--format"),
        ("gatt name : tree read --fo", "--format"),
        ("gatt X -i --sec", "--secure-connections-only --security"),
        ("gatt X read 2a19 --phy ''", "1m 2m coded"), ("gatt --mtu 23 X write --ch", "--chunk"),
        ("decode scr", "script"), ("decode x --svg scr", "script"), ("serve scr", "script"),
        ("scan --capture scr", "script"), ("gatt X write 2a19 --from scr", "script"),
        ("decode x --layer sig", "signaling"), ("gatt X read 2a19 --format u1", "u16"),
        ("scan --repeats ch", "change"), ("scan --adapter vir", "virtual"), ("--adapter vir", "virtual"),
        ("--adapter virtual gatt X w", "write"), ("--adapter virtual : lamp gatt X w", "write"),
        ("--adapter = virtual --json gatt X w", "write"), ("--json sca", "scan"),
        ("--timeout 5s --log-level wa", "warning"), ("--json --adapter virtual bonds li", "list"),
        ("bonds li", "list"), ("doctor --", "--json --version --help --log-level --color"),
    ])
    func bashCompletionOffersExpectedWords(_ words: String, _ offered: String) async throws {
        let result = try await Self.shell("bash").run(
            """
            cat >try <<'END'
            source ./script
            COMP_WORDS=(bletool \(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="${COMP_WORDS[*]}"
            COMP_POINT=${#COMP_LINE}
            _bletool bletool "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[*]}"
            END
            bash try
            """)
        #expect(result.output == offered + "\n")
    }

    @Test(
        .enabled(if: CompletionScriptTests.isInstalled("fish")),
        arguments: [
            ("--adapter virtual --json gatt X w", "write"), ("--adapter=virtual bonds li", "list"),
            ("gatt AA:BB:CC ", "dump info notify read run shell tree write"), ("gatt X w", "write"),
            ("gatt AA:BB:CC read --fo", "--format"), ("gatt read X --fo", "--format"),
            ("gatt X -i --sec", "--secure-connections-only --security"),
            ("gatt X read 2a19 --phy ", "1m 2m coded"), ("gatt --mtu 23 X write --ch", "--chunk"),
        ])
    func fishCompletionOffersExpectedWords(_ line: String, _ offered: String) async throws {
        let result = try await Self.shell("fish").run(
            "fish --no-config -c 'source ./script; complete -C \"bletool \(line)\"' | cut -f1 | xargs")
        #expect(result.output == offered + "\n")
    }
}
