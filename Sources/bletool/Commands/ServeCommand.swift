import ArgumentParser
import BLE
import BLECore
import GATTServer
import HCI
import HCISocket
import SMP

struct ServeCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a GATT server from a file, and advertise it.",
        discussion: """
            A configuration that cannot work is refused with file, line and reason before a radio is used. \
            The server advertises whenever it can accept another central, and prints what centrals do. \
            `beacons:` is a list of further advertisements beside the server's own.

            Programs of `read:` and `write:` run one at a time for each characteristic, in the order of the \
            requests, 10 s at most; what they print on stderr is shown. Up to 64 KiB of requests wait for \
            them; further requests are refused (0x11), and further writes without response are dropped, each \
            with a line of output. When the server ends, they may run for another 10 s, and what they \
            are not done with by then is reported, with status 2 unless a signal ended the server; a second \
            Ctrl-C kills them.
            """)

    @Argument(
        help: ArgumentHelp("The configuration, YAML or JSON; - is stdin.", valueName: "config.yaml"),
        completion: .file())
    var configurationFile: String?

    @Flag(help: "Print a configuration that explains every key, and exit.")
    var example = false

    @Option(help: "The name, instead of the configuration's.")
    var name: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Serve at most this many centrals at a time.", valueName: "count"))
    var maxLinks = 8

    @Flag(help: "Do not advertise.")
    var noAdvertise = false

    @Flag(help: "End when the first central has disconnected.")
    var once = false

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @Option(
        help: ArgumentHelp(
            """
            Under this name, store the values that centrals write in the folder of bonds, before the writes \
            are answered: the next run restores them, also after a crash. Handles are assigned from the top \
            of the file: add a new service at its end, or give its handle.
            """, valueName: "name"))
    var restoring: String?

    @OptionGroup(title: "Pairing options") var pairing: PairingArguments
    @OptionGroup var global: GlobalOptions

    /// The configuration file's path in messages and for its reader; `-` is stdin.
    private var file: String { configurationFile ?? "-" }

    func perform(_ console: Console) async throws(Failure) {
        guard !example else {
            _ = console.show(ExampleEvent())
            return
        }
        guard configurationFile != nil else {
            throw Failure(
                .usage, "serve", "no configuration is given",
                hint: "bletool serve --example prints one that explains every key")
        }
        try check()
        try await performOnRadio(console)
    }

    func security(_ console: Console) async throws(Failure) -> SecurityOptions {
        let configured = try served().security
        PairingWindow.ofServer.handleSignal(opens: configured.replacement == .window, console)
        return try await pairing.options(
            console, configured: configured, role: .peripheral,
            hasPassingAddress: try global.radio.hasPassingAddress())
    }

    func check() throws(Failure) {
        _ = try bletool.duration(duration, of: "--duration")
        guard maxLinks >= 1 else { throw Failure(.usage, "--max-links", "must be at least 1") }
        try pairing.outOfBand.check(readsNow: false)
        if let name, !(1...248).contains(name.utf8.count) {
            throw Failure(.usage, "--name", "has \(name.utf8.count) octets, a name has 1 to 248")
        }
        let served = try served()
        if !noAdvertise { _ = try served.advertising.checkedPlan() }
    }

    func run(_ radio: Radio) async throws(Failure) {
        let served = try served()
        served.showWarnings(of: file, on: radio.console)
        pairing.outOfBand.noteUnreadable(on: radio.console)
        if name != nil, served.advertising.content.raw != nil {
            radio.console.note("--name is the Device Name only: the raw advertisement stays as it is")
        }
        try await pairing.outOfBand.writeOffer(of: radio)
        let protected = served.needingAuthentication
        if !protected.isEmpty,
            !pairing.mayAuthenticate(configured: served.security, on: try global.radio.adapter())
        {
            radio.console.note(
                "no link can be secure enough for \(protected.joined(separator: ", ")): "
                    + "pairing without input and output (--io none, or io: none in the file) is Just Works"
            )
        }
        if await radio.adapter.isFixedPasskeyRetired {
            radio.console.note(
                "random passkeys are displayed: earlier pairings with this one have failed (bletool bonds reset-passkey)"
            )
        }
        let settings = noAdvertise ? [] : [served.advertising] + served.beacons
        let manager = try await manager(radio)
        let server = ConfiguredServer(configuration: served, manager: manager, console: radio.console)
        try await radio.attempt { () throws(BLEError) in try await server.publish() }
        let events = manager.events()
        var sets: [ReadyEvent.Advertised] = []
        var advertisings: [Advertising] = []
        for settings in settings {
            let request = try settings.checkedRequest()
            let advertising = try await radio.attempt { () throws(BLEError) in
                try await manager.advertise(request, maximumLinks: maxLinks)
            }
            advertisings.append(advertising)
            let set = ReadyEvent.Advertised(request, power: await advertising.power)
            if let refused = set.refusedPower { radio.console.note(refused) }
            sets.append(set)
        }
        // By now, each advertisement of an earlier run has been continued, or is not in the file any more.
        try await radio.attempt { () throws(BLEError) in try await manager.dismissRestored() }
        let ready = await ReadyEvent(radio.adapter, sets: sets)
        guard radio.console.show(ready) else { return }
        PairingWindow.ofServer.serverIsReady(radio.console)
        radio.health.showAmongResults()
        let limit = radio.limit(try bletool.duration(duration, of: "--duration"))
        let values = Task { await server.sendValues() }
        defer { values.cancel() }
        let drops = Task { await server.showDrops() }
        let service = ServiceManager()
        service?.notify("READY=1\nSTATUS=\(ready.lines(colored: false).first ?? "serving")")
        // The watchdog is also notified while the server stops, because programs can take 10 s then.
        let life = Task(executorPreference: radio.adapter.loop) { [loop = radio.adapter.loop] in
            await service?.keepAlive(on: loop)
        }
        defer { life.cancel() }
        // This task is not cancelled with the command, so that the events that closing the adapter causes are
        // shown, too.
        let requests = served.connection.map {
            ParameterRequests(wanted: $0, manager: manager, console: radio.console)
        }
        let reporting = Task { await emit(events, requests, radio.console) }
        let lost = Lock<BLEError?>(nil)
        let unserved = Lock(0)
        let watch = Task { [advertisings, adapter = radio.adapter] in
            guard let error = await Self.failure(of: advertisings) else { return }
            lost.withLock { $0 = error }
            await adapter.close()
        }
        defer { watch.cancel() }
        _ = try await radio.attempt { () throws(BLEError) in
            _ = try await radio.limited(limit) { [adapter = radio.adapter] () throws(BLEError) in
                let end = await withTaskCancellationHandler {
                    guard let service else { return await reporting.value }
                    return await service.notifyingEnd { await reporting.value }
                } onCancel: {
                    Task {
                        _ = await server.finish()
                        await adapter.close()
                    }
                }
                // Waits for the programs of centrals that disconnected by themselves, too.
                let count = await Task { await server.finish() }.value
                unserved.withLock { $0 = count }
                await drops.value
                values.cancel()
                await values.value
                if let error = lost.withLock({ $0 }) ?? end, error != .adapter(.closed) { throw error }
            }
        }
        let count = unserved.withLock { $0 }
        guard count > 0 else { return }
        throw Failure(
            .timeout, "serve",
            "programs were not done with \(count == 1 ? "1 request or value" : "\(count) requests or values") "
                + "10 s after the end")
    }

    /// Returns the error that ended one of the advertisements, or nil if all ended without an error.
    private static func failure(of advertisings: [Advertising]) async -> BLEError? {
        await withTaskGroup(of: BLEError?.self) { group in
            for advertising in advertisings {
                group.addTask {
                    do throws(BLEError) {
                        try await advertising.ended()
                        return nil
                    } catch {
                        return error == .cancelled ? nil : error
                    }
                }
            }
            for await error in group {
                guard let error else { continue }
                group.cancelAll()
                return error
            }
            return nil
        }
    }

    /// Creates the manager, with the state that an earlier run stored under the name of `--restoring`.
    private func manager(_ radio: Radio) async throws(Failure) -> PeripheralManager {
        guard let restoring else { return PeripheralManager(radio.adapter) }
        let folder = try pairing.state.path()
        // Only what centrals write is stored. The values of programs, counters and files are determined again
        // at each start, so storing them would only wear out the disk.
        let manager = try await radio.attempt { () throws(BLEError) in
            try await PeripheralManager(
                radio.adapter, restoring: restoring, in: folder, keepsUpdates: false)
        }
        for problem in manager.restored.problems { radio.console.note("\(problem)") }
        return manager
    }

    /// Shows the events until the adapter closes, the output has no reader any more or, with `--once`, a
    /// central has disconnected. Returns the error that ended them, or nil.
    private func emit(
        _ events: BoundedStream<PeripheralEvent>, _ requests: ParameterRequests?, _ console: Console
    ) async -> BLEError? {
        await withDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            do throws(BLEError) {
                for try await event in events where !isDrop(event) {
                    guard console.show(ServerEvent(event)) else { return nil }
                    note(event)
                    if let requests, case .connected(let central, _) = event {
                        group.addTask { await requests.request(of: central) }
                    }
                    if once, case .disconnected = event { return nil }
                }
                return nil
            } catch {
                return error
            }
        }
    }

    /// Passes the end of a pairing to the pairing window.
    private func note(_ event: PeripheralEvent) {
        switch event {
        case .security(let central, let security) where security.isBonded:
            PairingWindow.ofServer.bonded(central.address)
        case .pairingFailed(let central, _), .disconnected(let central, _, _):
            PairingWindow.ofServer.failed(central.address)
        default: break
        }
    }

    /// Returns whether the event reports a write without response that was dropped, which `showDrops()` shows
    /// with its value.
    private func isDrop(_ event: PeripheralEvent) -> Bool {
        guard case .refused(_, let refusal, _) = event else { return false }
        return refusal.requestOpcode.kind == .command && refusal.code == .insufficientResources
    }

    /// Loads the configuration, with the name of `--name` if it is given.
    private func served() throws(Failure) -> ServeConfiguration {
        try ServeConfiguration.load(file, name: name, names: Names.uuid)
    }
}

/// The result of `serve --example`: a sample configuration.
private struct ExampleEvent: Event {
    var json: JSONValue { ["event": "example", "configuration": JSONValue(ServeConfiguration.example)] }

    func lines(colored: Bool) -> [String] {
        ServeConfiguration.example.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }
}

extension ServerEvent {
    /// Creates the output event for an event of the library.
    init(_ event: PeripheralEvent) {
        switch event {
        case .connected(let central, let parameters):
            self.init(central: central.address, what: .connected(ServerEvent.LinkParameters(parameters)))
        case .parameters(let central, let parameters):
            self.init(central: central.address, what: .parameters(ServerEvent.LinkParameters(parameters)))
        case .disconnected(let central, let reason, let error):
            self.init(
                central: central.address,
                what: .disconnected(
                    reason: reason.hci, errno: reason.errno, text: "\(reason)",
                    cause: error.map { "\($0)" }))
        case .pairingFailed(let central, let error):
            self.init(
                central: central.address,
                what: .pairingFailed(
                    reason: error.pairingReason?.rawValue, isRefused: error.isRefusedPairing,
                    text: error.pairingText))
        case .mtu(let central, let mtu): self.init(central: central.address, what: .mtu(mtu))
        case .read(let central, let handle, let uuid, let value):
            self.init(central: central.address, what: .read(Access(handle: handle, uuid: uuid, value: value)))
        case .write(let central, let write, let kind):
            let access = Access(handle: write.handle, uuid: write.uuid, value: write.value)
            self.init(
                central: central.address,
                what: .write(access, WriteKind(rawValue: kind.rawValue) ?? .request))
        case .refused(let central, let refusal, let uuid):
            self.init(
                central: central.address,
                what: .refused(
                    Access(handle: refusal.handle, uuid: uuid), request: "\(refusal.requestOpcode)",
                    code: refusal.code.rawValue, text: "\(refusal.code)"))
        case .subscribed(let central, let handle, let uuid, let indications):
            self.init(
                central: central.address,
                what: .subscribed(Access(handle: handle, uuid: uuid), indications: indications))
        case .unsubscribed(let central, let handle, let uuid):
            self.init(central: central.address, what: .unsubscribed(Access(handle: handle, uuid: uuid)))
        case .notified(let central, let handle, let uuid, let value):
            self.init(
                central: central.address, what: .notified(Access(handle: handle, uuid: uuid, value: value)))
        case .security(let central, let security):
            self.init(
                central: central.address,
                what: .security(
                    level: security.reached.kernelName, keySize: security.keySize,
                    isBonded: security.isBonded))
        case .confirmed(let central, let handle, let uuid):
            self.init(central: central.address, what: .confirmed(Access(handle: handle, uuid: uuid)))
        }
    }
}

extension ServerEvent.LinkParameters {
    /// Creates the output parameters from those of the library.
    init(_ parameters: BLE.LinkParameters) {
        self.init(
            interval: parameters.timing?.interval, latency: parameters.timing?.latency,
            timeout: parameters.timing?.supervisionTimeout, phy: parameters.phys?.text, mtu: parameters.mtu,
            dataLength: parameters.dataLengths.map {
                DataLength(transmit: Int($0.transmit.octets), receive: Int($0.receive.octets))
            })
    }
}

extension BLE.LinkParameters.PHYs {
    /// The name of the PHY, or both names if the PHYs of the two directions differ.
    var text: String { transmit == receive ? "\(transmit)" : "\(transmit)/\(receive)" }
}

/// The parts of the error of a failed pairing.
extension BLEError {
    fileprivate var pairingReason: PairingFailureReason? {
        switch self {
        case .pairing(.local(let reason)), .pairing(.peer(let reason)): reason
        default: nil
        }
    }

    /// Whether this host has refused the pairing.
    fileprivate var isRefusedPairing: Bool {
        switch self {
        case .pairing(let failure): failure.isRefusal
        case .invalidRequest(.weakerBond): true
        default: false
        }
    }

    fileprivate var pairingText: String {
        if case .pairing(let failure) = self { "\(failure)" } else { "\(self)" }
    }
}

/// The numbers of a disconnect reason.
extension DisconnectReason {
    var hci: UInt8? {
        if case .status(let status) = self { status.rawValue } else { nil }
    }

    var errno: Int32? {
        if case .errno(let number) = self { number } else { nil }
    }
}
