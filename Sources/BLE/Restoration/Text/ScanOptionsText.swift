import BLEAdvertising
import BLECore
import HCI

/// The text of the options of a scan in a file.
extension ScanOptions {
    static let kind = "scan"

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        for service in services { writer.line("service", "\(service)") }
        for bit in overflowServices.keys.sorted() {
            if let service = overflowServices[bit] { writer.line("overflow", "\(bit)", "\(service)") }
        }
        for service in solicitedServices { writer.line("solicited", "\(service)") }
        writer.line("name", ifThere: name.map(TextValue.escaped))
        for address in addresses {
            let plain = DeviceAddress(address.value, type: address.type ?? .public)
            writer.line("address", plain.text, address.type.map { "\($0)" } ?? "any")
        }
        for company in companies { writer.line("company", "0x\(company.rawValue.hex)") }
        writer.line("minimum-rssi", ifThere: minimumRSSI.map { "\($0)" })
        writer.line("passive", TextValue.text(isPassive))
        writer.line("repeats", repeats.text)
        writer.line("preset", preset.rawValue)
        for (key, timing) in [("timing", timing), ("coded-timing", codedTiming)] {
            guard let timing else { continue }
            writer.line(key, TextValue.text(timing.interval), TextValue.text(timing.window))
        }
        writer.line("extended", extended.rawValue)
        for phy in phys.map(\.description).sorted() { writer.line("phy", phy) }
        writer.line("buffer", "\(buffer)")
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        self.init()
        phys = []
        for line in section.lines { try read(line) }
    }

    private mutating func read(_ line: TextSection.Line) throws(TextError) {
        switch line.key {
        case "service": services.append(try line.value { try? BluetoothUUID($0) })
        case "overflow":
            let words = try line.values(2)
            let bit = try line.value(of: words[0]) { Int($0) }
            overflowServices[bit] = try line.value(of: words[1]) { try? BluetoothUUID($0) }
        case "solicited": solicitedServices.append(try line.value { try? BluetoothUUID($0) })
        case "name": name = try line.value(of: line.rest, TextValue.unescaped)
        case "address": addresses.append(try AddressFilter(line))
        case "company": companies.append(CompanyIdentifier(rawValue: try line.value(TextValue.bits)))
        case "minimum-rssi": minimumRSSI = try line.value { Int8($0) }
        case "passive": isPassive = try line.value(TextValue.flag)
        case "repeats": repeats = try Repeats(line)
        case "preset": preset = try line.value { Preset(rawValue: String($0)) }
        case "timing": timing = try ScanTiming(line)
        case "coded-timing": codedTiming = try ScanTiming(line)
        case "extended": extended = try line.value { Family(rawValue: String($0)) }
        case "phy":
            phys.insert(try line.value { value in [PHY.le1M, .leCoded].first { $0.description == value } })
        case "buffer": buffer = try line.value { Int($0) }
        default: throw line.isUnknown
        }
    }
}

extension ScanOptions.Repeats {
    fileprivate var text: String {
        switch self {
        case .once: "once"
        case .changes: "changes"
        case .all: "all"
        case .every(let pause): "every \(TextValue.text(pause))"
        }
    }

    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = line.values
        switch (words.first, words.count) {
        case ("once", 1): self = .once
        case ("changes", 1): self = .changes
        case ("all", 1): self = .all
        case ("every", 2): self = .every(try line.value(of: words[1], TextValue.duration))
        default: throw line.isNoValue(line.rest)
        }
    }
}

extension ScanTiming {
    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = try line.values(2)
        let interval = try line.value(of: words[0], TextValue.duration)
        let window = try line.value(of: words[1], TextValue.duration)
        do throws(BLEError) {
            try self.init(interval: interval, window: window)
        } catch {
            throw line.isNoValue(line.rest)
        }
    }
}

extension AddressFilter {
    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = try line.values(2)
        let type = words[1] == "any" ? "public" : words[1]
        self.init(try line.value(of: words[0]) { DeviceAddress("\($0)/\(type)") })
        if words[1] == "any" { self.type = nil }
    }
}
