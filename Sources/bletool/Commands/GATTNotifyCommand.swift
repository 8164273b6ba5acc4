import ATT
import ArgumentParser
import BLE
import BLECore
import GATTClient

/// `bletool gatt DEVICE notify ATTR…`.
struct GATTNotifyCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Subscribe, and show the values that come.",
        usage: "bletool gatt <device> notify <attr> ... [--indicate] [--count <n>] [--duration <duration>]")

    @OptionGroup var options: GATTOptions

    @Argument(help: ArgumentHelp("The characteristics.", valueName: "attr"))
    var attributes: [String]

    @Flag(help: "Ask for indications where there are both.")
    var indicate = false

    @Option(parsing: .unconditional, help: ArgumentHelp("End after so many values.", valueName: "count"))
    var count: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration: String?

    @Option(
        help: ArgumentHelp(
            "How to show the values; default: auto, and hex with --json. utf8 has line ends and the like as \\u{a}.",
            valueName: "format")
    )
    var format: String?

    @OptionGroup var global: GlobalOptions

    func checkArguments() throws(Failure) {
        guard Set(try ConnectedDevice.paths(attributes)).count == attributes.count else {
            throw Failure(.usage, "notify", "an attribute is there twice")
        }
        _ = try shownFormat(format, global)
        _ = try bletool.duration(duration, of: "--duration")
        if let count, count < 1 { throw Failure(.usage, "--count", "must be 1 at least") }
    }

    func run(_ device: ConnectedDevice) async throws(Failure) {
        let format = try shownFormat(format, global)
        let duration = try bletool.duration(duration, of: "--duration")
        var listeners: [Listener] = []
        for (text, attribute) in zip(attributes, try await device.resolve(attributes, describing: true)) {
            guard let characteristic = attribute.characteristic, attribute.isValue else {
                throw Failure(.input, text, "is no characteristic, so it has nothing to notify")
            }
            let type = try await device.type(of: attribute, for: format)
            listeners.append(Listener(text: text, characteristic: characteristic, type: type))
        }
        let shown = Counter()
        let (wanted, all, indicate) = (count, listeners, indicate)
        let limit = duration ?? device.radio.timeLimit
        let ended = try await device.radio.attempt(attributes.joined(separator: " ")) { () throws(BLEError) in
            try await device.radio.limitedWhileRead(limit) { () throws(BLEError) in
                try await all.listen(device, format, indicate: indicate, until: wanted, shown)
            }
        }
        guard !ended, duration == nil, let wanted else { return }
        throw Failure(
            .timeout, "notify", "\(shown.value) of \(wanted) values came in \(limit?.text ?? "time")")
    }
}

/// A characteristic to listen to.
private struct Listener: Sendable {
    let text: String
    let characteristic: RemoteCharacteristic
    let type: ValueType?
}

extension [Listener] {
    /// Shows what comes from all of them, as it comes, until there were enough or one ends.
    fileprivate func listen(
        _ device: ConnectedDevice, _ format: ValueFormat, indicate: Bool, until wanted: Int?, _ shown: Counter
    ) async throws(BLEError) {
        var streams: [(Listener, BoundedStream<ReceivedValue>)] = []
        for listener in self {
            let properties = listener.characteristic.properties
            let indications = properties.contains(.indicate) && (indicate || !properties.contains(.notify))
            streams.append(
                (
                    listener,
                    try await device.peripheral.values(of: listener.characteristic, indications: indications)
                ))
        }
        let outcome = await withTaskGroup(of: Result<Void, BLEError>.self) { group in
            for (listener, stream) in streams {
                group.addTask {
                    do throws(BLEError) {
                        for try await value in stream {
                            let number = shown.increment()
                            if let wanted, number > wanted { break }
                            let event = NotificationEvent(
                                isIndication: value.isIndication, handle: value.handle,
                                uuid: listener.characteristic.uuid, value: value.value, time: .now,
                                format: format,
                                type: listener.type)
                            guard device.console.show(event), number != wanted else { break }
                        }
                        return .success(())
                    } catch {
                        return .failure(error)
                    }
                }
            }
            let first = await group.next() ?? .success(())
            group.cancelAll()
            return first
        }
        try outcome.get()
    }
}
