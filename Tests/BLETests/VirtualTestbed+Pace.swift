import BLE
import Glibc
import VirtualController

extension VirtualTestbed {
    /// As `run(seed:conditions:_:)`, on an air whose connection events carry as many packets each way as
    /// BLETOOL_CONNECTION_EVENTS says: `make verify` runs all tests of two hosts so, too.
    static func run<Success: Sendable>(
        _ body: @escaping @Sendable (VirtualTestbed) async throws -> Success
    ) async throws -> Success {
        let packets = getenv("BLETOOL_CONNECTION_EVENTS").flatMap { Int(String(cString: $0)) }
        return try await run(conditions: .init(packetsPerConnectionEvent: packets), body)
    }
}
