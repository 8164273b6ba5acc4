import BLE
import BLEAdvertising
import BLECore
import HCISocket

/// A result of `adapters`: an adapter or, with `--watch`, a change of it.
struct AdapterEvent: Event {
    var adapter: AdapterDescription
    /// With `--watch`: `added`, `changed` or `removed`.
    var change: String?

    init(adapter: AdapterDescription) { self.adapter = adapter }

    /// Creates the event that reports a change.
    init(_ change: AdapterChange) {
        switch change {
        case .added(let adapter): (self.adapter, self.change) = (adapter, "added")
        case .changed(let adapter): (self.adapter, self.change) = (adapter, "changed")
        case .removed(let adapter): (self.adapter, self.change) = (adapter, "removed")
        }
    }

    private var state: String {
        switch adapter.availability {
        case .available: adapter.current.contains(.powered) ? "up" : "down"
        case .taken: "up"
        case .notSetUp: "not-set-up"
        }
    }

    private var owner: String? {
        switch adapter.availability {
        case .available: "kernel"
        case .taken: "user-channel"
        case .notSetUp: nil
        }
    }

    private static let features: [(Management.Settings, String)] = [
        (.lowEnergy, "le"), (.classic, "bredr"), (.secureConnections, "secure-connections"),
        (.privacy, "privacy"), (.staticAddress, "static-address"),
    ]

    private func names(_ settings: Management.Settings) -> [String] {
        Self.features.filter { settings.contains($0.0) }.map(\.1)
    }

    /// The devices that are connected to the adapter, if they are known.
    private var links: JSONValue? {
        adapter.links.map { links in
            .array(
                links.map {
                    .object([
                        .init("address", JSONValue($0)), .init("addressType", JSONValue(typeOf: $0)),
                    ])
                })
        }
    }

    var json: JSONValue {
        let isKnown = adapter.availability == .available
        let company = CompanyIdentifier(rawValue: adapter.manufacturer)
        return .object(
            [.init("event", "adapter")] + (change.map { [.init("change", .string($0))] } ?? []) + [
                .init("adapter", JSONValue("hci\(adapter.index)")),
                .init("address", JSONValue(adapter.address)),
                .init("addressType", JSONValue(typeOf: adapter.address)),
                .init("name", JSONValue(adapter.name)),
                .init("hciVersion", isKnown ? JSONValue(adapter.version.rawValue) : nil),
                .init("manufacturer", isKnown ? JSONValue(adapter.manufacturer) : nil),
                .init("manufacturerName", isKnown ? JSONValue(Names.company(company)) : nil),
                .init("state", JSONValue(state)),
                .init("supported", .array(names(adapter.supported).map { JSONValue($0) })),
                .init("enabled", .array(names(adapter.current).map { JSONValue($0) })),
                .init("owner", JSONValue(owner)), .init("usb", JSONValue(adapter.usbPort)),
            ] + (links.map { [.init("links", $0)] } ?? []))
    }

    func lines(colored: Bool) -> [String] {
        let address = Style.cyan(adapter.address.text, when: colored)
        let what: String =
            switch adapter.availability {
            case .available:
                "HCI \(adapter.version.rawValue)  \(adapter.name.printable)  "
                    + "[\(names(adapter.current).joined(separator: " "))]"
            case .taken: "another process uses it exclusively"
            case .notSetUp: "its driver has not set it up"
            }
        let place = adapter.usbPort.map { "  usb \($0)" } ?? ""
        let links = (adapter.links ?? []).map { "  linked to \(Style.cyan($0.text, when: colored))" }
        return [
            (change.map { "\($0)  " } ?? "") + "hci\(adapter.index)  \(address)  \(state)  \(what)\(place)"
        ] + links
    }
}
