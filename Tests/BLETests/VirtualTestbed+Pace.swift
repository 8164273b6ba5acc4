import BLE
import Glibc
import VirtualController

extension VirtualTestbed {
    /// Does the same as `run(seed:conditions:_:)`, on an air whose connection events carry as many packets each
    /// way as the environment variable BLETOOL_CONNECTION_EVENTS specifies. `make verify` runs all tests of two
    /// hosts with it, too.
    static func run<Success: Sendable>(
        _ body: @escaping @Sendable (VirtualTestbed) async throws -> Success
    ) async throws -> Success {
        let packets = getenv("BLETOOL_CONNECTION_EVENTS").flatMap { Int(String(cString: $0)) }
        return try await run(conditions: .init(packetsPerConnectionEvent: packets), body)
    }
}
