import BLE
import BLECore
import HCI
import Testing

/// One case of a table: the behavior of the script, and the expected result on the host.
struct ScriptCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let opcode: HCIOpcode
    let behavior: ScriptedPort.Behavior
    let times: Int
    /// The error that the operation throws; nil if it succeeds.
    let problem: BLEError?
    /// The health events that the host reports meanwhile.
    let health: [AdapterHealthEvent]
    /// Whether the controller has the extended commands.
    var isExtended = false

    /// Creates a case in which the operation succeeds.
    init(
        _ text: String, _ opcode: HCIOpcode, _ behavior: ScriptedPort.Behavior, times: Int = .max,
        health: [AdapterHealthEvent] = []
    ) {
        self.init(text, opcode, behavior, times: times, throws: nil, health: health)
    }

    /// Creates a case in which the operation throws `problem`.
    init(
        _ text: String, _ opcode: HCIOpcode, _ behavior: ScriptedPort.Behavior, times: Int = .max,
        throws problem: BLEError?, health: [AdapterHealthEvent] = []
    ) {
        testDescription = "\(opcode): \(text)"
        (self.opcode, self.behavior, self.times) = (opcode, behavior, times)
        (self.problem, self.health) = (problem, health)
    }

    /// Runs `operation` under the script, and checks its error.
    func check(
        on host: ScriptedHost, sourceLocation: SourceLocation = #_sourceLocation,
        _ operation: @Sendable () async throws -> Void
    ) async {
        host.port.script(opcode, behavior, times: times)
        do {
            try await operation()
            #expect(problem == nil, sourceLocation: sourceLocation)
        } catch let error as BLEError {
            #expect(error == problem, sourceLocation: sourceLocation)
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
    }
}

extension [AdapterHealthEvent] {
    /// Returns the events when a command is not answered and a reset recovers the controller.
    static func reset(after opcode: HCIOpcode) -> [AdapterHealthEvent] {
        [.recovering(.silence(command: opcode), by: .reset), .recovered(by: .reset)]
    }

    /// Returns the events when a command is never answered, although Reset is.
    static func givenUp(after opcode: HCIOpcode) -> [AdapterHealthEvent] {
        [[AdapterHealthEvent]](repeating: reset(after: opcode), count: 5).flatMap(\.self)
            + [.gaveUp(.silence(command: opcode))]
    }
}
