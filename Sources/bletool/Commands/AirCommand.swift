import ArgumentParser
import BLE
import BLECore
import Glibc
import HCISocket
import SystemPackage
import VirtualController

struct AirCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "air",
        abstract: "Run the virtual air: every H4 connection is one simulated controller on it.",
        discussion: """
            All controllers are in range of each other. Without --listen, this is the air that --adapter \
            virtual joins. If none is running, the first command with --adapter virtual starts one as a \
            process in the background, which ends 10 s after its last controller has left. BLETOOL_AIR=PATH \
            selects another air.

            bletool joins it with --adapter tcp:HOST:PORT or unix:PATH; any other Bluetooth stack that \
            speaks H4 can join it, too.
            """)

    @Option(
        name: .customLong("listen"),
        help: ArgumentHelp(
            "Listen here: unix:PATH or tcp:HOST:PORT; port 0 picks a free port.", valueName: "place"))
    var places: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Accept at most this many controllers at a time.", valueName: "count"))
    var controllers: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Lose packets with this probability, 0 to 1. Packets of a connection are sent again; if all are "
                + "lost, it ends with its supervision timeout.", valueName: "probability"))
    var loss: Double?

    @Option(
        help: ArgumentHelp("Delay all packets by this time, as in 20ms.", valueName: "duration"))
    var delay: String?

    @Flag(
        help: """
            Send data only at connection events, at most four packets each way, as a radio does. Without \
            this, data is sent at once.
            """)
    var connectionEvents = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The seed of all random decisions, such as loss and addresses.", valueName: "number"))
    var seed: UInt64?

    @Flag(
        help: "Simulate Bluetooth 4.2 controllers: no extended or periodic advertising, one PHY, no privacy.")
    var legacy = false

    @Flag(help: .hidden)
    var background = false

    @OptionGroup var global: TimedOptions

    var output: OutputOptions { global.output }

    /// The time for which an air that was started for a command stays open without controllers.
    private static let timeLimit = Duration.seconds(10)

    func perform(_ console: Console) async throws(Failure) {
        Logs.start(output.logLevel)
        try global.radio.refuse(for: "air")
        let limit = try global.time.limit()
        if let controllers, controllers < 1 {
            throw Failure(.usage, "--controllers", "at least one controller is required")
        }
        if let loss, !(0...1).contains(loss) {
            throw Failure(.usage, "--loss", "\(loss) is not between 0 and 1")
        }
        let conditions = VirtualAir.Conditions(
            loss: loss ?? 0, delay: try duration(delay, of: "--delay") ?? .zero,
            packetsPerConnectionEvent: connectionEvents ? 4 : nil)
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
            background
                ? try await runInBackground() : try await run(addresses, conditions, limit, console)
        }
        try result.get()
    }

    private func run(
        _ addresses: [StreamAddress], _ conditions: VirtualAir.Conditions, _ limit: Duration?,
        _ console: Console
    ) async throws(Failure) {
        let air = AirServer(
            on: .shared, seed: seed ?? .random(in: .min ... .max), maximumControllers: controllers,
            configuration: .init(extended: legacy ? nil : .init()), conditions: conditions)
        let wanted: [StreamAddress]
        do throws(BLEError) {
            wanted = addresses.isEmpty ? [try AirPlace().address] : addresses
        } catch {
            throw Failure(error, while: "air")
        }
        for (index, address) in wanted.enumerated() where wanted[..<index].contains(address) {
            if case .tcp(_, 0) = address { continue }
            throw Failure(.usage, "--listen", "\(address) is given twice")
        }
        var bound: [StreamAddress] = []
        for address in wanted {
            do throws(BLEError) {
                bound.append(try await air.listen(at: address))
            } catch {
                await air.close()
                if case .port(.system(.addressInUse, _)) = error {
                    throw Failure(
                        .adapter, "\(address)", "another process listens there already",
                        hint: "an air that started by itself ends some time after its last client; "
                            + "BLETOOL_AIR=PATH names another")
                }
                throw Failure(error, while: "air \(address)")
            }
        }
        if console.show(AirReadyEvent(places: bound)) { await Interruption.wait(limit) }
        await air.close()
    }

    /// Serves the socket that is this process's standard input until no controller has been connected for
    /// `timeLimit`.
    private func runInBackground() async throws(Failure) {
        guard Self.isListening(STDIN_FILENO) else {
            throw Failure(
                .usage, "--background", "is for an air that another command starts", hint: "run bletool air")
        }
        let air = AirServer(on: .shared)
        do throws(PortError) {
            // The process that started this one has bound the socket in the same folder.
            try await air.listen(
                on: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), in: (try? AirPlace(creates: false))?.folder)
        } catch {
            throw Failure(.input, "air", "\(error)")
        }
        await air.idle(for: Self.timeLimit)
        await air.close()
    }

    /// Returns whether a descriptor is a socket that accepts connections.
    private static func isListening(_ descriptor: CInt) -> Bool {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value != 0
    }
}

/// The first event of `air`: controllers can join from now on.
struct AirReadyEvent: Event {
    /// The addresses on which the air accepts H4 connections.
    var places: [StreamAddress]

    var json: JSONValue {
        ["event": "ready", "listening": .array(places.map { JSONValue($0.description) })]
    }

    func lines(colored: Bool) -> [String] { places.map { "listening on \($0)".printable } }
}
