import ArgumentParser
import BLE
import BLECore
import HCISocket

struct MaintainCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "maintain",
        abstract: "Keep a device connected, and run a program when it connects or disconnects.",
        discussion: """
            Waits for the device without a time limit, and connects again whenever the link ends: at once if \
            the link lasted ten seconds (--steady-after), otherwise after pauses that grow to half a minute. A device \
            that is given by its name is looked for before each link, since its address can be another one then; if it \
            is bonded, it is followed by its identity address.

            --exec runs a /bin/sh command whenever the device has connected or disconnected, one at a time, \
            for 10 s at most. Its environment has BLETOOL_EVENT (connected or disconnected), BLETOOL_SESSION \
            (the number of the link in this run: 1, 2, …), BLETOOL_ADDRESS and BLETOOL_ADDRESS_TYPE of the \
            device, after a connection its security level in BLETOOL_SECURITY, and after a disconnection its \
            reason in BLETOOL_REASON. Its output is shown on stderr.

            The links to a bonded device are encrypted with the bond's key. A device that does not have the key is \
            reported, and the next attempt follows: it may be another device that uses the address.

            As a systemd service (Type=notify) it is ready when it waits for the device; its status is the \
            last event.
            """)

    @Argument(help: ArgumentHelp("The device: an address, or name:GLOB.", valueName: "device"))
    var device: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Run this when the device connects or disconnects.", valueName: "command"))
    var exec: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this many links.", valueName: "count"))
    var count: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "A link of this duration is no failure, after which the pauses grow; default: 10s. For devices that connect for seconds.",
            valueName: "duration"))
    var steadyAfter: String?

    @Option(help: ArgumentHelp("The security level of each link; default: low.", valueName: "level"))
    var security: SecurityLevel?

    @Flag(help: "Do not encrypt the links to a bonded device.")
    var plainText = false

    @Flag(help: "End with status 6 when the device does not have the key of its bond.")
    var endWhenBondLost = false

    @OptionGroup(title: "Pairing options") var pairing: PairingArguments
    @OptionGroup var global: GlobalOptions

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        try await pairing.options(
            console, showsPairing: true, hasPassingAddress: try global.radio.hasPassingAddress())
    }

    func check() throws(Failure) {
        _ = try DeviceSelector.parsed(device)
        _ = try bletool.duration(duration, of: "--duration")
        _ = try backoff()
        if let count, count < 1 { throw Failure(.usage, "--count", "must be at least 1") }
        if let exec, exec.allSatisfy(\.isWhitespace) {
            throw Failure(.usage, "--exec", "the command is empty")
        }
    }

    private func backoff() throws(Failure) -> Backoff {
        guard let steady = try bletool.duration(steadyAfter, of: "--steady-after") else { return Backoff() }
        return Backoff(steadyAfter: steady)
    }

    func run(_ radio: Radio) async throws(Failure) {
        let (selector, backoff) = (try DeviceSelector.parsed(device), try backoff())
        let duration = try bletool.duration(duration, of: "--duration")
        let (wanted, linked, ended) = (count, Counter(), Counter())
        var options = ConnectionOptions()
        options.establishmentAttempts = .max
        options.security = security ?? .open
        options.encryptsIfBonded = !plainText
        let (events, sink) = AsyncStream<MaintainEvent>.makeStream()
        let (console, exec) = (radio.console, exec)
        // Programs run concurrently with the links, in the order of the events. They are not ended with this
        // command, because a program also runs for the end of the last link.
        let service = ServiceManager()
        service?.notify("READY=1\nSTATUS=waiting for \(device.printable)")
        let life = Task(executorPreference: radio.adapter.loop) { [loop = radio.adapter.loop] in
            await service?.keepAlive(on: loop)
        }
        defer { life.cancel() }
        if !console.isJSON, console.errors.isTerminal { console.note("waiting for \(device.printable)") }
        let reporting = Task { await Self.emit(events, console, exec, service) }
        let work = {
            await radio.outcome(device) { [options, endWhenBondLost] () throws(BLEError) in
                try await radio.limited(radio.limit(duration)) { () throws(BLEError) in
                    try await Self.maintain(
                        selector, radio, options, backoff, endsWhenBondLost: endWhenBondLost, until: wanted,
                        linked, ended,
                        sink)
                }
            }
        }
        let outcome = if let service { await service.notifyingEnd(of: work) } else { await work() }
        sink.finish()
        await reporting.value
        guard try !outcome.get(), radio.isTimeout(before: duration), wanted != nil || linked.value == 0 else {
            return
        }
        let what = wanted.map { "\(ended.value) of \($0) links ended" } ?? "no link was established"
        let closed = linked.value > ended.value ? ", and the open one was closed" : ""
        throw Failure(.timeout, "maintain", "\(what) in \(radio.timeLimit?.text ?? "time")\(closed)")
    }

    private static func maintain(
        _ selector: DeviceSelector, _ radio: Radio, _ options: ConnectionOptions, _ backoff: Backoff,
        endsWhenBondLost: Bool, until wanted: Int?, _ linked: Counter, _ ended: Counter,
        _ sink: AsyncStream<MaintainEvent>.Continuation
    ) async throws(BLEError) {
        let open = Lock<(session: Int, device: DeviceAddress)?>(nil)
        // A link that exists at the end is not established again. Its end is reported as its start was, and
        // with this reason if the task is cancelled.
        var reason = DisconnectReason.status(.connectionTerminatedByLocalHost)
        defer {
            if let (session, device) = open.withLock({ $0 }) {
                sink.yield(
                    MaintainEvent(device: device, what: .disconnected(session: session, reason, pause: .zero))
                )
            }
        }
        let links = try await radio.maintain(
            selector, options, backoff, endsWhenBondLost: endsWhenBondLost
        ) { event in
            switch event.what {
            case .connected(let session, _):
                open.withLock { $0 = (session, event.device) }
                _ = linked.increment()
            case .disconnected:
                open.withLock { $0 = nil }
                _ = ended.increment()
            case .found, .failed: break
            }
            sink.yield(event)
        }
        var iterator = links.makeAsyncIterator()
        // The iterator returns the next link after the previous one has ended.
        while wanted.map({ ended.value < $0 }) ?? true {
            guard let device = try await iterator.next() else { return }
            guard let wanted, ended.value + 1 >= wanted else { continue }
            reason = try await device.disconnection()
            return
        }
    }

    private static func emit(
        _ events: AsyncStream<MaintainEvent>, _ console: Console, _ exec: String?, _ service: ServiceManager?
    ) async {
        let runner = ProgramRunner()
        for await event in events {
            console.show(event)
            service?.notify("STATUS=\(event.lines(colored: false).first ?? "")")
            guard let exec, let environment = event.environment else { continue }
            do throws(ProgramRunner.Problem) {
                let printed = try await runner.run(.shell(exec), environment: environment)
                if !printed.isEmpty { console.note(String(decoding: printed, as: UTF8.self)) }
            } catch {
                console.note("--exec: \(error.reason)")
            }
        }
    }
}
