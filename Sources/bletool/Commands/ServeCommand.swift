import ArgumentParser
import BLE
import BLECore
import GATTServer
import HCI
import HCISocket

/// `bletool serve`.
struct ServeCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a GATT server from a file, and advertise it.",
        discussion: """
            A configuration that cannot work is refused with file, line and reason before a radio is touched. \
            It advertises whenever a link is free, and tells what centrals do.
            """)

    @Argument(help: ArgumentHelp("The configuration, YAML or JSON; - is stdin.", valueName: "config.yaml"))
    var file: String

    @Option(help: "Another name than the configuration's.")
    var name: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Serve at most this many centrals at a time.", valueName: "count"))
    var maxLinks = 8

    @Flag(help: "Do not advertise.")
    var noAdvertise = false

    @Flag(help: "End when the first central has left.")
    var once = false

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @OptionGroup var global: GlobalOptions

    func check() throws(Failure) {
        _ = try bletool.duration(duration, of: "--duration")
        guard maxLinks >= 1 else { throw Failure(.usage, "--max-links", "must be 1 at least") }
        if let name, !(1...248).contains(name.utf8.count) {
            throw Failure(.usage, "--name", "has \(name.utf8.count) octets, a name has 1 to 248")
        }
        let served = try served()
        if !noAdvertise { _ = try served.advertising.checkedPlan() }
    }

    func run(_ radio: Radio) async throws(Failure) {
        let served = try served()
        let plan = try noAdvertise ? nil : served.advertising.checkedPlan()
        let manager = PeripheralManager(radio.adapter)
        let server = ConfiguredServer(configuration: served, manager: manager, console: radio.console)
        try await radio.attempt { () throws(BLEError) in try await server.publish() }
        let events = manager.events()
        if let plan {
            var request = AdvertisingRequest(plan, kind: served.advertising.kind)
            request.interval = served.advertising.interval ?? request.interval
            request.power = served.advertising.power
            let wanted = request
            _ = try await radio.attempt { () throws(BLEError) in
                try await manager.advertise(wanted, maximumLinks: maxLinks)
            }
        }
        let ready = ReadyEvent(adapter: radio.adapter.name, address: await radio.adapter.address, plan: plan)
        guard radio.console.show(ready) else { return }
        let limit = try bletool.duration(duration, of: "--duration") ?? radio.timeLimit
        let values = Task { await server.sendValues() }
        defer { values.cancel() }
        // Not cancelled with the command: what the end of the adapter brings about is told, too.
        let told = Task { await tell(events, radio.console) }
        _ = try await radio.attempt { () throws(BLEError) in
            _ = try await radio.limited(limit) { [adapter = radio.adapter] () throws(BLEError) in
                let end = await withTaskCancellationHandler {
                    await told.value
                } onCancel: {
                    Task { await adapter.close() }
                }
                if let end, end != .adapter(.closed) { throw end }
            }
        }
    }

    /// Shows what happens, until the adapter ends or nobody reads any more; gives what ended it.
    private func tell(_ events: BoundedStream<PeripheralEvent>, _ console: Console) async -> BLEError? {
        do throws(BLEError) {
            for try await event in events {
                guard console.show(ServerEvent(event)) else { return nil }
                if once, case .disconnected = event { return nil }
            }
            return nil
        } catch {
            return error
        }
    }

    /// What the file says, with the name of the command line.
    private func served() throws(Failure) -> ServeConfiguration {
        try ServeConfiguration.load(file, name: name, names: Names.uuid)
    }
}

extension ServerEvent {
    /// What the library told, as the contract shows it.
    init(_ event: PeripheralEvent) {
        switch event {
        case .connected(let central, let parameters):
            self.init(central: central.address, what: .connected(ServerEvent.LinkParameters(parameters)))
        case .parameters(let central, let parameters):
            self.init(central: central.address, what: .parameters(ServerEvent.LinkParameters(parameters)))
        case .disconnected(let central, let reason):
            self.init(
                central: central.address,
                what: .disconnected(reason: reason.hci, errno: reason.errno, text: "\(reason)"))
        case .mtu(let central, let mtu): self.init(central: central.address, what: .mtu(mtu))
        case .read(let central, let handle, let uuid, let value):
            self.init(central: central.address, what: .read(Access(handle: handle, uuid: uuid, value: value)))
        case .write(let central, let write, let kind):
            let access = Access(handle: write.handle, uuid: write.uuid, value: write.value)
            self.init(
                central: central.address,
                what: .write(access, WriteKind(rawValue: kind.rawValue) ?? .request))
        case .subscribed(let central, let handle, let uuid, let indications):
            self.init(
                central: central.address,
                what: .subscribed(Access(handle: handle, uuid: uuid), indications: indications))
        case .unsubscribed(let central, let handle, let uuid):
            self.init(central: central.address, what: .unsubscribed(Access(handle: handle, uuid: uuid)))
        case .notified(let central, let handle, let uuid, let value):
            self.init(
                central: central.address, what: .notified(Access(handle: handle, uuid: uuid, value: value)))
        case .confirmed(let central, let handle, let uuid):
            self.init(central: central.address, what: .confirmed(Access(handle: handle, uuid: uuid)))
        }
    }
}

extension ServerEvent.LinkParameters {
    fileprivate init(_ parameters: BLE.LinkParameters) {
        self.init(
            interval: parameters.timing?.interval, latency: parameters.timing?.latency,
            timeout: parameters.timing?.supervisionTimeout, phy: parameters.phys?.text, mtu: parameters.mtu)
    }
}

extension BLE.LinkParameters.PHYs {
    /// One name, or two when the ways differ.
    fileprivate var text: String { transmit == receive ? "\(transmit)" : "\(transmit)/\(receive)" }
}

extension DisconnectReason {
    fileprivate var hci: UInt8? {
        if case .status(let status) = self { status.rawValue } else { nil }
    }

    fileprivate var errno: Int32? {
        if case .errno(let number) = self { number } else { nil }
    }
}
