import ATT
import ArgumentParser
import BLE
import BLECore
import GATTClient
import HCISocket

/// `bletool gatt DEVICE notify ATTR…`.
struct GATTNotifyCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Subscribe, and show the values that arrive.",
        usage:
            "bletool gatt <device> notify <attr> ... [--indicate] [--count <n>] [--duration <duration>] [--reconnect]",
        discussion: """
            Each value is a line. If values arrive faster than the lines are read, up to 16,384 wait; then \
            the oldest are dropped, and their number is printed. A value of which the device has sent only a part, \
            though it states another length, is followed by both numbers; with --json it has a member length.

            --reconnect waits for the device without a limit, and subscribes again whenever its link has ended. A \
            bonded device that does not have the key of its bond is reported, and connected again later.
            """)

    @OptionGroup var options: GATTOptions

    @Argument(help: ArgumentHelp("The characteristics.", valueName: "attr"))
    var attributes: [String]

    @Flag(help: "Use indications if the characteristic supports both.")
    var indicate = false

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this many values.", valueName: "count"))
    var count: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @Option(
        help: ArgumentHelp(
            """
            How to show the values; default: auto, and hex with --json. utf8 has line ends and the like as \\u{a}; several \
            numbers are a list, 1,770, with --json an array; raw is the octets as they are, without lines. (values: \(ValueFormat.list))
            """, valueName: "format"), completion: .list(ValueFormat.allCases.map(\.rawValue)))
    var format: String?

    @Flag(help: "Connect and subscribe again whenever the link ends.")
    var reconnect = false

    @Flag(help: "With --reconnect: end with status 6 when the device does not have the key of its bond.")
    var endWhenBondLost = false

    @OptionGroup var global: GlobalOptions

    func checkArguments() throws(Failure) {
        guard Set(try ConnectedDevice.paths(attributes)).count == attributes.count else {
            throw Failure(.usage, "notify", "an attribute is given twice")
        }
        _ = try shownFormat(format, global)
        _ = try bletool.duration(duration, of: "--duration")
        if let count, count < 1 { throw Failure(.usage, "--count", "must be at least 1") }
        if endWhenBondLost, !reconnect {
            throw Failure(.usage, "--end-when-bond-lost", "has an effect only with --reconnect")
        }
    }

    func run(_ radio: Radio) async throws(Failure) {
        if reconnect { try await runOnLinks(radio) } else { try await runOnce(radio) }
    }

    func run(_ device: ConnectedDevice) async throws(Failure) {
        let listeners = try await listeners(on: device)
        let (what, wanted, indicate, shown) = (what, count, indicate, Counter())
        let isListening = Lock(false)
        let limit = try limit(device.radio)
        let ended = try await device.radio.attempt(what) { () throws(BLEError) in
            try await device.radio.limitedWhileRead(limit) { () throws(BLEError) in
                try await listeners.listen(device, indicate: indicate, until: wanted, shown) {
                    isListening.withLock { $0 = true }
                }
            }
        }
        try checkCount(shown, ended, limit)
        if !ended, limit != (try bletool.duration(duration, of: "--duration")),
            !isListening.withLock({ $0 }), let time = device.radio.timeLimit
        {
            throw Failure(.timeout, what, "not subscribed to within \(time.text)")
        }
    }

    private var what: String { attributes.joined(separator: " ") }

    private func limit(_ radio: Radio) throws(Failure) -> Duration? {
        radio.limit(try bletool.duration(duration, of: "--duration"))
    }

    private func checkCount(_ shown: Counter, _ hasEnded: Bool, _ limit: Duration?) throws(Failure) {
        // A duration that ends is no failure.
        guard !hasEnded, let limit, limit != (try bletool.duration(duration, of: "--duration")), let count
        else { return }
        let time = try global.time.limit() ?? limit
        throw Failure(.timeout, "notify", "\(shown.value) of \(count) values came in \(time.text)")
    }

    /// Returns the characteristics of a link's server to subscribe to.
    private func listeners(on device: ConnectedDevice) async throws(Failure) -> [Listener] {
        let format = try shownFormat(format, global)
        var listeners: [Listener] = []
        for (text, attribute) in zip(
            attributes, try await device.resolve(attributes, describing: true, certainly: true))
        {
            guard let characteristic = attribute.characteristic, attribute.isValue else {
                throw Failure(.input, text, "is not a characteristic, so it cannot notify")
            }
            let type = try await device.type(of: attribute, for: format)
            listeners.append(Listener(characteristic: characteristic, format: format, type: type))
        }
        return listeners
    }

    // MARK: Link after link

    private func runOnLinks(_ radio: Radio) async throws(Failure) {
        try await options.pairing.outOfBand.writeOffer(of: radio)
        let selector = try DeviceSelector.parsed(options.device)
        var connection = try options.link.connection()
        connection.establishmentAttempts = .max
        if !radio.console.isJSON, radio.console.errors.isTerminal {
            radio.console.note("waiting for \(options.device.printable)")
        }
        let (shown, failure) = (Counter(), Lock<Failure?>(nil))
        let limit = try limit(radio)
        let ended = try await radio.attempt(what) { () throws(BLEError) in
            try await radio.limitedWhileRead(limit) { [self, connection] () throws(BLEError) in
                let links = try await radio.maintain(
                    selector, connection, endsWhenBondLost: endWhenBondLost
                ) { emit($0, radio.console) }
                for try await peripheral in links {
                    do throws(Failure) {
                        let device = ConnectedDevice(peripheral: peripheral, radio: radio)
                        guard try await hasEnded(device, shown) else { continue }
                    } catch {
                        // An error after the time limit, or after the output's reader has gone, is not a
                        // failure.
                        if !Task.isCancelled { failure.withLock { $0 = error } }
                    }
                    return await peripheral.disconnect()
                }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        try checkCount(shown, ended, limit)
    }

    /// Subscribes on a link, and subscribes again whenever the server's database has changed. Returns false
    /// if the link was lost before enough values arrived.
    private func hasEnded(_ device: ConnectedDevice, _ shown: Counter) async throws(Failure) -> Bool {
        // Limits the attempts, in case a server reports a changed database every time.
        var attempts = 0
        while true {
            let before = shown.value
            do throws(Failure) {
                let listeners = try await listeners(on: device)
                try await device.radio.attempt(what) { () throws(BLEError) in
                    try await listeners.listen(device, indicate: indicate, until: count, shown)
                }
                return true
            } catch {
                attempts = shown.value > before ? 1 : attempts + 1
                guard await device.peripheral.state == .connected else {
                    guard [.linkLost, .peer, .timeout].contains(error.kind) else { throw error }
                    // The reason for which the link ended does not say what the device did.
                    if error.kind != .linkLost { device.console.note(error.message) }
                    return false
                }
                let hasChanged =
                    error.kind == .att && error.number == Int(ATTErrorCode.databaseOutOfSync.rawValue)
                guard hasChanged, attempts < 8 else { throw error }
            }
        }
    }

    /// Shows an event of the links. Text output goes to stderr, because the event is not a value.
    private func emit(_ event: MaintainEvent, _ console: Console) {
        if console.isJSON {
            console.show(event)
        } else {
            for line in event.lines(colored: false) { console.note(line) }
        }
    }
}

/// A characteristic whose values are printed.
private struct Listener: Sendable {
    let characteristic: RemoteCharacteristic
    let format: ValueFormat
    let type: ValueType?

    func show(_ value: ReceivedValue, on device: ConnectedDevice) -> Bool {
        if format == .raw { return device.console.output.octets(value.value) }
        return device.console.show(
            NotificationEvent(
                value, uuid: characteristic.uuid, time: device.radio.time(of: value.received),
                format: format, type: type))
    }
}

extension RemoteCharacteristic {
    /// Notes that a subscription is not possible, and that the values that come all the same are shown.
    fileprivate func warnIfUnsubscribable(indicate: Bool, on console: Console) {
        guard descriptor(.clientCharacteristicConfiguration) == nil else { return }
        console.note(
            "\(uuid) has no Client Characteristic Configuration: listening without a subscription")
        if console.isJSON {
            console.show(
                SubscribedEvent(
                    handle: valueHandle, uuid: uuid,
                    isForIndications: properties.contains(.indicate)
                        && (indicate || !properties.contains(.notify)),
                    isSubscribed: false))
        }
    }
}

extension [Listener] {
    /// The maximum number of values that wait to be printed.
    private static let room = 16_384

    /// Shows the values of all listeners in the order of arrival, until `wanted` values were shown. `shown` counts
    /// those of all links.
    fileprivate func listen(
        _ device: ConnectedDevice, indicate: Bool, until wanted: Int?, _ shown: Counter,
        subscribed: () -> Void = {}
    ) async throws(BLEError) {
        let stream = try await device.peripheral.values(
            of: map(\.characteristic), indications: indicate, buffer: .newest(Self.room),
            requiringConfiguration: false)
        subscribed()
        for listener in self {
            listener.characteristic.warnIfUnsubscribable(indicate: indicate, on: device.console)
        }
        var dropped = 0
        for try await value in stream {
            if stream.dropped > dropped {
                reportLoss(stream.dropped - dropped, on: device.console)
                dropped = stream.dropped
            }
            guard let listener = first(where: { $0.characteristic.valueHandle == value.handle }) else {
                continue
            }
            let number = shown.increment()
            guard listener.show(value, on: device), number != wanted else { return }
        }
    }

    private func reportLoss(_ count: Int, on console: Console) {
        let only =
            self.count == 1 ? first.map { ($0.characteristic.valueHandle, $0.characteristic.uuid) } : nil
        let event = ValueLossEvent(characteristic: only, count: count)
        if console.isJSON {
            console.show(event)
        } else {
            for line in event.lines(colored: false) { console.note(line) }
        }
    }
}
