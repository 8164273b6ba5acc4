import BLE
import BLECore
import HCI
import Testing

/// One line of the tables: what the script does, and what the host makes of it.
struct ScriptCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let opcode: HCIOpcode
    let behavior: ScriptedPort.Behavior
    let times: Int
    /// What the operation throws; nil: it works all the same.
    let problem: BLEError?
    /// The host's health events meanwhile.
    let health: [AdapterHealthEvent]
    /// Whether the controller has the extended commands.
    var isExtended = false

    /// What the host does: it works.
    init(
        _ text: String, _ opcode: HCIOpcode, _ behavior: ScriptedPort.Behavior, times: Int = .max,
        health: [AdapterHealthEvent] = []
    ) {
        self.init(text, opcode, behavior, times: times, throws: nil, health: health)
    }

    /// What the host does: it throws.
    init(
        _ text: String, _ opcode: HCIOpcode, _ behavior: ScriptedPort.Behavior, times: Int = .max,
        throws problem: BLEError?, health: [AdapterHealthEvent] = []
    ) {
        testDescription = "\(opcode): \(text)"
        (self.opcode, self.behavior, self.times) = (opcode, behavior, times)
        (self.problem, self.health) = (problem, health)
    }

    /// Runs `operation` while the script holds and compares.
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
    /// That command is not answered, and a reset helps.
    static func reset(after opcode: HCIOpcode) -> [AdapterHealthEvent] {
        [.recovering(.silence(command: opcode), by: .reset), .recovered(by: .reset)]
    }

    /// That command is never answered, though Reset is.
    static func givenUp(after opcode: HCIOpcode) -> [AdapterHealthEvent] {
        [[AdapterHealthEvent]](repeating: reset(after: opcode), count: 5).flatMap(\.self)
            + [.gaveUp(.silence(command: opcode))]
    }
}
