import ATT
import BLE
import BLECore
import GATTClient

/// Runs the steps of a script on one connection, one after the other. The values of subscriptions are shown
/// as they arrive.
actor ScriptRunner {
    private let device: ConnectedDevice
    private let format: ValueFormat
    private let arrivals = Arrivals()
    /// The values of all subscriptions, in the order of arrival, and the task that shows them.
    private var collector: ValueCollector?
    private var reader: Task<Void, Never>?
    private var subscriptions: [AttributeHandle: Subscription] = [:]
    /// Why the subscriptions have ended, if no step has failed for it.
    private var unreportedEnd: BLEError?

    private struct Subscription {
        let event: SubscribedEvent
        let type: ValueType?
        /// Shows the event, with the line of the script.
        let console: Console
        var isShown = false
    }

    /// The time limit of a `wait` that does not give one.
    private static let timeLimit = Duration.seconds(30)

    init(_ device: ConnectedDevice) {
        self.device = device
        format = device.console.isJSON ? .hex : .auto
    }

    deinit {
        reader?.cancel()
    }

    /// Runs a step. Its results contain the number of the line.
    func run(_ step: ScriptStep, line: Int) async throws(Failure) {
        var device = device
        device.console.line = line
        device.radio = device.radio.sharingTimeLimit()
        switch step {
        case .verb(let verb): try await verb.run(device)
        case .subscribe(let step): try await subscribe(step, device)
        case .unsubscribe(let attribute): try await unsubscribe(attribute, device)
        case .wait(let step): try await wait(step, device)
        case .sleep(let duration): try await sleep(duration)
        }
    }

    /// Waits. The end of the link ends the pause, as does that of the subscriptions, whose values it is for.
    private func sleep(_ duration: Duration) async throws(Failure) {
        guard collector != nil || unreportedEnd != nil else {
            if let reason = try await end(within: duration) { throw lost(reason) }
            return
        }
        _ = try await arrival(within: duration, while: device.peripheral.address.text) { _ in false }
    }

    /// Waits for a value, and returns whether one came. Throws if the subscriptions have ended.
    private func arrival(
        within limit: Duration, while doing: String,
        where isMeant: @escaping @Sendable (Arrivals.Arrival) -> Bool
    ) async throws(Failure) -> Bool {
        do throws(BLEError) {
            return try await device.radio.limited(limit) { [arrivals] () throws(BLEError) in
                try await arrivals.take(where: isMeant)
            }
        } catch {
            if error != .cancelled { unreportedEnd = nil }
            throw Failure(error, while: doing)
        }
    }

    private func characteristic(
        _ text: String, _ device: ConnectedDevice
    ) async throws(Failure) -> (RemoteCharacteristic, ValueType?) {
        guard let attribute = try await device.resolve([text], describing: true, certainly: true).first,
            let characteristic = attribute.characteristic, attribute.isValue
        else { throw Failure(.input, text, "is not a characteristic, so it cannot notify") }
        return (characteristic, try await device.type(of: attribute, for: format))
    }

    private func subscribe(_ step: SubscribeStep, _ device: ConnectedDevice) async throws(Failure) {
        let (characteristic, type) = try await characteristic(step.attribute, device)
        let handle = characteristic.valueHandle
        await end(handle)
        // The stream of the earlier subscriptions has ended, and they with it.
        if collector == nil { subscriptions = [:] }
        let properties = characteristic.properties
        let indications = properties.contains(.indicate) && (step.indicate || !properties.contains(.notify))
        subscriptions[handle] = Subscription(
            event: SubscribedEvent(
                handle: handle, uuid: characteristic.uuid, isForIndications: indications,
                isSubscribed: characteristic.descriptor(.clientCharacteristicConfiguration) != nil),
            type: type, console: device.console)
        do throws(Failure) {
            let collector = try await runningCollector(step.attribute, device)
            try await device.attempt(step.attribute) { () throws(BLEError) in
                try await collector.add(characteristic, indications: indications)
            }
        } catch {
            subscriptions[handle] = nil
            throw error
        }
        announce(handle)
    }

    /// Returns the collector of this link's values, which shows them from the first subscription on.
    private func runningCollector(
        _ what: String, _ device: ConnectedDevice
    ) async throws(Failure) -> ValueCollector {
        if let collector { return collector }
        let new = try await device.attempt(what) { [peripheral = device.peripheral] () throws(BLEError) in
            try await ValueCollector(of: peripheral)
        }
        noteUnreportedEnd()
        collector = new
        arrivals.begin()
        reader = Task { [weak self, values = new.values] in
            do throws(BLEError) {
                for try await value in values { await self?.show(value) }
            } catch .cancelled {
                // The script has ended.
            } catch {
                await self?.collectorEnded(error)
            }
        }
        return new
    }

    /// Notes that the stream of the subscriptions has ended. A `wait` or `sleep` fails with the reason; other
    /// subscriptions can follow.
    private func collectorEnded(_ error: BLEError) {
        collector = nil
        unreportedEnd = error
        arrivals.end(error)
    }

    /// Notes that subscriptions have ended, if no step has failed for it. The end of the link is reported by whatever
    /// uses the link next.
    func noteUnreportedEnd() {
        guard let error = unreportedEnd.take() else { return }
        let failure = Failure(error, while: device.peripheral.address.text)
        if failure.kind != .linkLost {
            device.console.note("the subscriptions have ended: \(failure.message)")
        }
    }

    /// Shows that a subscription is in effect: the server has answered, or a value has arrived before that.
    private func announce(_ handle: AttributeHandle) {
        guard let subscription = subscriptions[handle], !subscription.isShown else { return }
        subscriptions[handle]?.isShown = true
        subscription.console.show(subscription.event)
    }

    private func show(_ value: ReceivedValue) {
        announce(value.handle)
        guard let subscription = subscriptions[value.handle] else { return }
        device.onValue(value.handle, value.value)
        device.console.show(
            NotificationEvent(
                value, uuid: subscription.event.uuid, time: device.radio.time(of: value.received),
                format: format, type: subscription.type))
        arrivals.add(.init(handle: value.handle, isIndication: value.isIndication))
    }

    private func unsubscribe(_ text: String, _ device: ConnectedDevice) async throws(Failure) {
        let handle = try await characteristic(text, device).0.valueHandle
        guard subscriptions[handle] != nil else {
            throw Failure(.input, text, "nothing has subscribed to it")
        }
        await end(handle)
    }

    /// Ends a subscription, if there is one.
    private func end(_ handle: AttributeHandle) async {
        guard subscriptions.removeValue(forKey: handle) != nil else { return }
        await collector?.remove(handle)
    }

    private func wait(_ step: WaitStep, _ device: ConnectedDevice) async throws(Failure) {
        let limit = try step.limit() ?? device.radio.timeLimit ?? Self.timeLimit
        guard step.awaited != .disconnection else {
            guard let reason = try await end(within: limit) else {
                throw Failure(.timeout, "wait", "the link did not end within \(limit.text)")
            }
            device.console.show(LinkEndEvent(reason: reason))
            return
        }
        guard !subscriptions.isEmpty else {
            throw Failure(.input, "wait", "nothing is subscribed to", hint: "subscribe ATTR comes first")
        }
        var handle: AttributeHandle?
        if let attribute = step.attribute {
            handle = try await characteristic(attribute, device).0.valueHandle
        }
        let (isIndication, wanted) = (step.awaited == .indication, handle)
        let came = try await arrival(within: limit, while: "wait") {
            $0.isIndication == isIndication && (wanted == nil || $0.handle == wanted)
        }
        guard came else {
            let what = step.attribute.map { " of \($0)" } ?? ""
            throw Failure(.timeout, "wait", "no \(step.awaited.rawValue)\(what) came within \(limit.text)")
        }
    }

    /// Returns the reason why the link ended, or nil if it did not end within the limit.
    private func end(within limit: Duration) async throws(Failure) -> DisconnectReason? {
        let peripheral = device.peripheral
        do throws(BLEError) {
            return try await device.radio.adapter.until(limit) { () throws(BLEError) in
                try await peripheral.disconnection()
            }
        } catch {
            throw Failure(error, while: "run")
        }
    }

    private func lost(_ reason: DisconnectReason) -> Failure {
        Failure(.disconnected(reason), while: device.peripheral.address.text)
    }
}

/// `subscribe`: values can arrive from now on.
struct SubscribedEvent: Event {
    /// The handle of the characteristic's value.
    var handle: AttributeHandle
    var uuid: BluetoothUUID
    /// Whether the values are indications, each of which is confirmed to the server.
    var isForIndications: Bool
    /// False if the server has no configuration for it: the values that it sends all the same are shown.
    var isSubscribed = true

    var json: JSONValue {
        [
            "event": "subscribed", "handle": JSONValue(handle), "uuid": JSONValue(uuid),
            "indications": JSONValue(isForIndications), "subscribed": JSONValue(isSubscribed),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let verb = isSubscribed ? "subscribed" : "listening without a subscription"
        return ["\(verb) to \(isForIndications ? "indications" : "notifications") of \(uuid)"]
    }
}

/// `wait disconnection`: the link has ended.
struct LinkEndEvent: Event {
    var reason: DisconnectReason

    var json: JSONValue {
        [
            "event": "disconnected", "reason": JSONValue(reason.hci), "errno": JSONValue(reason.errno),
            "reasonText": JSONValue("\(reason)"),
        ]
    }

    func lines(colored: Bool) -> [String] { ["disconnected: \(reason)"] }
}
