import BLECore

/// The address of an adapter that has none of its own, so that it is the same in every run.
struct StaticAddress: Hashable, Sendable {
    static let kind = "address"

    var adapter: String
    var address: DeviceAddress

    init(_ address: DeviceAddress, of adapter: String) {
        self.adapter = adapter
        self.address = address
    }

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("adapter", TextValue.escaped(adapter))
        writer.line("address", "\(address)")
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var (adapter, address): (String?, DeviceAddress?)
        for line in section.lines {
            switch line.key {
            case "adapter": adapter = try line.value(of: line.rest, TextValue.unescaped)
            case "address": address = try line.value { DeviceAddress($0) }
            default: throw line.isUnknown
            }
        }
        self.init(try section.required(address, "address"), of: try section.required(adapter, "adapter"))
    }
}
