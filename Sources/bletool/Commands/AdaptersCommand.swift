import ArgumentParser
import BLE
import BLECore
import HCISocket

/// `bletool adapters`.
struct AdaptersCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapters", abstract: "List the kernel's Bluetooth adapters: address, version, state.",
        discussion: "Virtual adapters need no listing: --adapter virtual makes one.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) {
        do throws(BLEError) {
            let adapters = try await Adapter.list()
            for adapter in adapters { console.show(AdapterEvent(adapter: adapter)) }
            if adapters.isEmpty {
                console.note("the kernel has no adapters; --adapter virtual works without")
            }
        } catch {
            throw Failure(error, while: "adapters")
        }
    }
}

/// `adapters`: one of them.
struct AdapterEvent: Event {
    /// The adapter.
    var adapter: AdapterDescription

    private var state: String { adapter.current.contains(.powered) ? "up" : "down" }

    private static let features: [(Management.Settings, String)] = [
        (.lowEnergy, "le"), (.classic, "bredr"), (.secureConnections, "secure-connections"),
        (.privacy, "privacy"), (.staticAddress, "static-address"),
    ]

    private func names(_ settings: Management.Settings) -> [String] {
        Self.features.filter { settings.contains($0.0) }.map(\.1)
    }

    var json: JSONValue {
        [
            "event": "adapter", "adapter": JSONValue("hci\(adapter.index)"),
            "address": JSONValue(adapter.address),
            "addressType": JSONValue(typeOf: adapter.address), "name": JSONValue(adapter.name),
            "hciVersion": JSONValue(adapter.version), "manufacturer": JSONValue(adapter.manufacturer),
            "manufacturerName": JSONValue(Names.company(CompanyIdentifier(rawValue: adapter.manufacturer))),
            "state": JSONValue(state), "supported": .array(names(adapter.supported).map { JSONValue($0) }),
            "enabled": .array(names(adapter.current).map { JSONValue($0) }), "owner": "kernel",
        ]
    }

    func lines(colored: Bool) -> [String] {
        let address = Style.cyan(adapter.address.text, when: colored)
        let enabled = names(adapter.current).joined(separator: " ")
        return [
            "hci\(adapter.index)  \(address)  \(state)  HCI \(adapter.version)  \(adapter.name.printable)  [\(enabled)]"
        ]
    }
}
