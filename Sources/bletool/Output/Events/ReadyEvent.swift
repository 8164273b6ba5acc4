import BLE
import BLEAdvertising
import BLECore

/// The first event of `advertise` and `serve`: the device can be found from now on.
struct ReadyEvent: Event {
    /// An advertisement that is on air.
    struct Advertised: Hashable, Sendable {
        var plan: AdvertisingPlan
        /// The transmit power of the controller in dBm, if it reports that.
        var power: Int8?
        var periodic: PeriodicAdvertisingTrain?

        /// The transmit power that was requested.
        var wantedPower: Int8?
        /// Whether the packets carry no address.
        var isAnonymous: Bool
        /// Whether the packets contain no field but the flags.
        fileprivate var isBare: Bool

        /// Creates the advertisement that is on air for `request`.
        init(_ request: AdvertisingRequest, power: Int8?) {
            let sent = request.sent(with: power)
            (plan, periodic) = (sent.plan, sent.periodic)
            (self.power, wantedPower) = (power, request.power)
            isAnonymous = request.isAnonymous
            // Directed advertising is for a device that knows the address. A train has content of its own.
            isBare =
                request.direction == nil && periodic == nil && plan.octets + plan.scanResponse.count <= 3
                && !plan.fields.contains { $0.field != .flags }
        }

        /// A note for the user if the requested power was not granted, otherwise nil.
        var refusedPower: String? {
            guard let wantedPower, power != wantedPower else { return nil }
            let chosen =
                power.map { "the controller has chosen \($0) dBm" }
                ?? "the controller does not report its power"
            return "--power \(wantedPower) is not granted: \(chosen)"
        }
    }

    /// The adapter, as `--adapter` names it.
    var adapter: String
    var address: DeviceAddress
    /// The private address that is initially on air in place of `address`.
    var privateAddress: DeviceAddress?
    /// The advertisements: the first, then those that are on air beside it. Empty with `--no-advertise`.
    var sets: [Advertised] = []

    /// The address, or nil if all advertisements hide it.
    private var shownAddress: DeviceAddress? {
        !sets.isEmpty && sets.allSatisfy(\.isAnonymous) ? nil : address
    }

    var json: JSONValue {
        [
            "event": "ready", "adapter": JSONValue(adapter), "address": JSONValue(shownAddress),
            "addressType": JSONValue(typeOf: shownAddress), "privateAddress": JSONValue(privateAddress),
            "advertising": sets.first?.json ?? nil,
            "beside": .array(sets.dropFirst().map(\.json)),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let what = sets.isEmpty ? "ready" : "advertising"
        let who =
            shownAddress.map { address in
                "as \(Style.cyan(address.text, when: colored)) (\(address.type))"
                    + (privateAddress.map { ", hidden behind \($0.text)" } ?? "")
            }
            ?? "without an address"
        // The number is that with which the end of an advertisement is reported.
        let notes = sets.enumerated().flatMap { number, set in
            set.notes.map { sets.count > 1 ? "  advertisement \(number): \($0)" : "  \($0)" }
        }
        return ["\(what) \(who) on \(adapter.printable)"] + notes
    }
}

extension ReadyEvent {
    /// Creates the first event of a server on `adapter`.
    init(_ adapter: Adapter, sets: [Advertised]) async {
        self.init(
            adapter: adapter.name, address: await adapter.address,
            privateAddress: await adapter.privateAddress, sets: sets)
    }
}

extension ReadyEvent.Advertised {
    fileprivate var json: JSONValue {
        [
            "data": JSONValue(hex: plan.data), "scanResponse": JSONValue(hex: plan.scanResponse),
            "extended": JSONValue(plan.extended?.hex), "overflow": .array(plan.overflow.map(\.json)),
            "power": JSONValue(power.map(Int.init)), "periodic": periodic?.json ?? nil,
        ]
    }

    fileprivate var notes: [String] {
        (isBare ? ["the packets contain no name, service or other field"] : []) + plan.overflow.map(\.text)
            + (plan.isInvisibleToLegacyScanners ? [PacketsEvent.invisible] : [])
            + (periodic.map { ["with a periodic train every \($0.interval.text)"] } ?? [])
    }
}
