import ArgumentParser
import BLE
import Glibc
import HCISocket
import SystemPackage

/// `bletool air`.
struct AirCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "air",
        abstract: "Run the virtual air: every H4 connection is one simulated controller on it.",
        discussion: """
            All controllers hear each other. Without --listen it is the air that --adapter virtual joins.

            --adapter tcp:HOST:PORT and unix:PATH join from here; any other Bluetooth stack that speaks H4 can, \
            too.
            """)

    @Option(
        name: .customLong("listen"),
        help: ArgumentHelp(
            "Where to listen: unix:PATH or tcp:HOST:PORT; port 0 takes a free one.", valueName: "place"))
    var places: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Let at most this many controllers join at a time.", valueName: "count"))
    var controllers: Int?

    @Flag(help: .hidden)
    var background = false

    @OptionGroup var global: GlobalOptions

    /// How long an air that was started for a command stays without controllers.
    private static let patience = Duration.seconds(10)

    func perform(_ console: Console) async throws(Failure) {
        Logs.start(global.logLevel)
        try global.refuse(["--adapter", "--capture"], for: "air")
        let limit = try global.timeLimit()
        if let controllers, controllers < 1 {
            throw Failure(.usage, "--controllers", "an air needs room for at least one controller")
        }
        let addresses = try places.map { place throws(Failure) in
            try reading("--listen") { () throws(BadInput) in
                do throws(AdapterSpecificationError) {
                    return try StreamAddress(place)
                } catch {
                    throw BadInput(error)
                }
            }
        }
        let result = await Interruption.result { () throws(Failure) in
            background ? try await runInBackground() : try await run(addresses, limit, console)
        }
        try result.get()
    }

    private func run(
        _ addresses: [StreamAddress], _ limit: Duration?, _ console: Console
    ) async throws(Failure) {
        let air = AirServer(on: .shared, maximumControllers: controllers)
        let wanted =
            addresses.isEmpty
            ? [.unix(path: Environment.value("BLETOOL_AIR") ?? AirServer.defaultPath)] : addresses
        var bound: [StreamAddress] = []
        for address in wanted {
            do throws(BLEError) {
                bound.append(try await air.listen(at: address))
            } catch {
                await air.close()
                if case .port(.system(.addressInUse, _)) = error {
                    throw Failure(
                        .adapter, "\(address)", "somebody listens there already",
                        hint: "an air that started by itself ends some time after its last client; "
                            + "BLETOOL_AIR=PATH names another")
                }
                throw Failure(error, while: "air \(address)")
            }
        }
        if console.show(AirReadyEvent(places: bound)) { await Interruption.wait(limit) }
        await air.close()
    }

    /// Serves the socket that is this process's standard input until nobody uses it for a while.
    private func runInBackground() async throws(Failure) {
        let air = AirServer(on: .shared)
        do throws(PortError) {
            try await air.listen(on: dup(STDIN_FILENO))
        } catch {
            throw Failure(.input, "air", "\(error)")
        }
        await air.idle(for: Self.patience)
        await air.close()
    }
}

/// The first line of `air`: from now on controllers can join.
struct AirReadyEvent: Event {
    /// Where they can.
    var places: [StreamAddress]

    var json: JSONValue {
        ["event": "ready", "listening": .array(places.map { JSONValue($0.description) })]
    }

    func lines(colored: Bool) -> [String] { places.map { "listening on \($0)" } }
}
