import Foundation
import Testing

/// Named pipes in place of files.
struct PipeTests {
    @Test("a named pipe without a program at its other end does not block a command beyond its time limit")
    func pipeWithoutOtherEndIsNoWait() async throws {
        let (status, output) = try await Shell().run(
            """
            mkfifo pipe
            bletool scan --adapter virtual --duration 100ms --capture pipe
            echo scan $?
            bletool capture pipe --adapter virtual --duration 100ms
            echo capture $?
            bletool decode pipe --timeout 100ms
            echo decode $?
            # A pipe whose writer comes later is decoded to its end.
            (sleep 0.2; exec cat empty.btsnoop >pipe) &
            printf 'btsnoop\\0\\0\\0\\0\\1\\0\\0\\3\\352' >empty.btsnoop
            bletool decode pipe --timeout 10s
            echo late $?
            """)
        #expect(status == 0)
        #expect(output.components(separatedBy: "no program reads from this pipe").count == 3, "\(output)")
        for line in ["scan 1", "capture 1", "decode 0", "late 0"] {
            #expect(output.contains("\(line)\n"), "\(output)")
        }
    }
}
