import HCISocket
import SystemPackage

/// How to start an air when a virtual adapter finds none.
public struct AirLauncher: Sendable {
    /// Starts an air that listens at `path`. Returns when the air listens or could not be started. Two
    /// processes can call it at the same time; the second one then joins the air of the first.
    public var launch: @Sendable (_ path: String, _ loop: EventLoop) async throws(BLEError) -> Void

    /// Creates a launcher that calls `launch`.
    public init(_ launch: @escaping @Sendable (String, EventLoop) async throws(BLEError) -> Void) {
        self.launch = launch
    }

    /// Starts an air in this process. The air ends with the process, and the other processes on it then lose
    /// their links.
    public static let inProcess = AirLauncher { (path, loop) throws(BLEError) in
        let air = AirServer(on: loop)
        do throws(BLEError) {
            _ = try await air.listen(at: .unix(path: path))
            AirServer.keep(air)
        } catch .port(.system(.addressInUse, _)) {
            // Another task or process was faster.
        }
    }
}
