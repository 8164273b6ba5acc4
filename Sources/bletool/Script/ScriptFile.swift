import BLE
import Glibc

/// A script for one connection: a file, or the lines on stdin.
struct ScriptFile: Sendable {
    /// The path of the script; `-` is stdin.
    var path: String
    /// Whether the script continues after a line that fails.
    var keepsGoing = false

    /// Runs the lines of the script on a link, one after the other.
    func run(on device: ConnectedDevice) async throws(Failure) {
        var device = device
        device.console.isJSON = device.console.isJSON || !device.console.output.isTerminal
        do throws(Failure) {
            try await runLines(on: device)
        } catch {
            // The results are objects here even without `--json`, and so is the failure at the end.
            if device.console.isJSON, !device.radio.console.isJSON { device.console.output.line(error.json) }
            throw error
        }
    }

    private func runLines(on device: ConnectedDevice) async throws(Failure) {
        let runner = ScriptRunner(device)
        var failures = (count: 0, last: Failure?.none)
        if path == "-" {
            var lines = LineReader(STDIN_FILENO, on: device.radio.adapter.loop)
            var number = 0
            while let line = try await next(&lines) {
                number += 1
                do throws(Failure) {
                    guard let step = try ScriptStep(line, json: device.console.isJSON) else { continue }
                    try await runner.run(step, line: number)
                } catch {
                    failures = (
                        failures.count + 1, try await continueScript(after: error, at: number, device)
                    )
                }
            }
        } else {
            for (number, step) in try steps(json: device.console.isJSON) {
                do throws(Failure) {
                    try await runner.run(step, line: number)
                } catch {
                    failures = (
                        failures.count + 1, try await continueScript(after: error, at: number, device)
                    )
                }
            }
        }
        await runner.noteUnreportedEnd()
        // Each of them has been shown.
        guard let last = failures.last else { return }
        let count = failures.count == 1 ? "1 line" : "\(failures.count) lines"
        throw Failure(last.kind, place, "\(count) failed", number: last.number)
    }

    private func next(_ lines: inout LineReader) async throws(Failure) -> String? {
        do throws(BadInput) {
            return try await lines.next()
        } catch {
            throw Failure("stdin", error, kind: .input)
        }
    }

    /// The script in messages.
    private var place: String { path == "-" ? "stdin" : path }

    /// Handles a failure at a line. Throws it if the script does not continue after failures and the line has failed to
    /// show its result, or if the link was lost; otherwise shows it and returns it.
    private func continueScript(
        after failure: Failure, at line: Int, _ device: ConnectedDevice
    ) async throws(Failure) -> Failure {
        let placed = failure.at("\(place):\(line)")
        guard keepsGoing || failure.isAfterResult, failure.kind != .linkLost,
            await device.peripheral.state == .connected
        else {
            throw placed
        }
        var console = device.console
        console.line = line
        console.show(placed)
        return placed
    }

    /// Returns the steps of the file, with the numbers of their lines.
    func steps(json: Bool) throws(Failure) -> [(Int, ScriptStep)] {
        let octets: [UInt8]
        do throws(BadInput) {
            octets = try File.contents(path, limit: 1 << 20, takesPipes: true)
        } catch {
            throw Failure(path, error, kind: .input)
        }
        var steps: [(Int, ScriptStep)] = []
        let lines = octets.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            do throws(Failure) {
                let text = String(decoding: line, as: UTF8.self)
                if let step = try ScriptStep(text, json: json) { steps.append((index + 1, step)) }
            } catch {
                throw error.at("\(path):\(index + 1)")
            }
        }
        return steps
    }
}

extension Failure {
    /// Returns the failure with the place where it occurred.
    fileprivate func at(_ place: String) -> Failure {
        var failure = self
        failure.what = what.isEmpty ? place : "\(place): \(what)"
        return failure
    }
}
