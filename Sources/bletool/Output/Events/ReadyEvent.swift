import BLECore

/// The first line of `advertise` and `serve`: from now on the device can be found.
struct ReadyEvent: Event {
    /// The adapter, as `--adapter` names it.
    var adapter: String
    /// The address that is advertised.
    var address: DeviceAddress
    /// What is advertised; nil with `--no-advertise`.
    var plan: AdvertisingPlan?

    var json: JSONValue {
        [
            "event": "ready", "adapter": JSONValue(adapter), "address": JSONValue(address),
            "addressType": JSONValue(typeOf: address), "advertising": advertising,
        ]
    }

    private var advertising: JSONValue {
        guard let plan else { return nil }
        return [
            "data": JSONValue(hex: plan.data), "scanResponse": JSONValue(hex: plan.scanResponse),
            "extended": JSONValue(plan.extended?.hex), "overflow": .array(plan.overflow.map(\.json)),
        ]
    }

    func lines(colored: Bool) -> [String] {
        let what = plan == nil ? "ready" : "advertising"
        let place = "\(Style.cyan(address.text, when: colored)) (\(address.type)) on \(adapter.printable)"
        let invisible = plan?.isInvisibleToLegacyScanners == true ? [PacketsEvent.invisible] : []
        return ["\(what) as \(place)"] + ((plan?.overflow.map(\.text) ?? []) + invisible).map { "  \($0)" }
    }
}
