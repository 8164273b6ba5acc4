import AssignedNumbers
import BLEAdvertising
import BLECore
import HCI
import Recordings

extension PacketText {
    /// Adds lines with all details: each layer, its fields, and the octets of the record.
    func appendTree(_ packet: DecodedPacket, to text: inout String) {
        var head = ["Frame \(packet.frame)", packet.time.exactDescription]
        if let direction = packet.direction { head.append(direction.text) }
        if packet.adapter != 0xffff { head.append("hci\(packet.adapter)") }
        if let peer = packet.peer { head.append("peer \(peer)") }
        text += Style.bold(head.joined(separator: "  "), when: isColored) + "\n"
        appendLayers(packet.layers, to: &text)
        if let part = packet.part { text += "  \(part)\n" }
        if let attribute = packet.attribute, let label = attribute.label {
            let service = attribute.service.map { ", of \(Names.name($0) ?? "\($0)")" } ?? ""
            text += "  attribute 0x\(attribute.handle.rawValue.hex): \(label.printable)\(service.printable)\n"
        }
        if let reading = reading(packet) { text += "  reading: \(reading)\n" }
        if let request = packet.request { text += "  answers \(request.name), \(request.text)\n" }
        appendDump(packet.outer.bytes, to: &text)
    }

    func appendLayers(_ layers: [DecodedLayer], to text: inout String) {
        for layer in layers {
            text += "  \(Style.dim(layer.layer.rawValue, when: isColored)) "
            text += Style.bold(layer.name.printable, when: isColored) + "\n"
            append(
                layer.fields, of: layer.layer == .adv ? "advertising" : "", indent: "    ", to: &text)
            if let problem = layer.problem {
                text += "    " + Style.red("problem: \(problem.printable)", when: isColored) + "\n"
            }
        }
    }

    /// Adds the fields of the field `parent`.
    private func append(
        _ fields: DecodedFields, of parent: String, indent: String, to text: inout String
    ) {
        for field in fields.all {
            text += "\(indent)\(Style.cyan(field.name, when: isColored)):"
            if parent == "advertising", field.name == "flags", case .number(let number) = field.value {
                text += " \(AdvertisingFlags(rawValue: UInt8(truncatingIfNeeded: number)).words)\n"
                continue
            }
            append(field.value, named: field.name, indent: indent, to: &text)
        }
    }

    private func append(_ value: FieldValue, named name: String, indent: String, to text: inout String) {
        let inner = indent + "  "
        switch value {
        case .null: text += " none\n"
        case .bool(let flag): text += flag ? " yes\n" : " no\n"
        case .number(let number): text += " \(FieldText.number(number, named: name))\n"
        case .described(_, let words): text += " \(words.printable)\n"
        case .text(let value):
            text += " \(value.printable)\(FieldText.note(value, named: name))\n"
        case .list(let values):
            text += values.isEmpty ? " none\n" : "\n"
            for value in values {
                text += "\(indent)-"
                if case .fields(let fields) = value {
                    text += "\n"
                    append(fields, of: name, indent: inner, to: &text)
                } else {
                    append(value, named: name, indent: inner, to: &text)
                }
            }
        case .fields(let fields):
            text += fields.all.isEmpty ? " none\n" : "\n"
            append(fields, of: name, indent: inner, to: &text)
        }
    }

    /// Adds a hex dump of octets, sixteen per line.
    private func appendDump(_ octets: [UInt8], to text: inout String) {
        for start in stride(from: 0, to: octets.count, by: 16) {
            let row = octets[start..<min(start + 16, octets.count)]
            let digits = row.map { [$0].hex }.joined(separator: " ")
            let signs = row.map { (0x20...0x7e).contains($0) ? String(UnicodeScalar($0)) : "." }.joined()
            let space = String(repeating: " ", count: 47 - digits.count)
            let line = "  \(UInt16(truncatingIfNeeded: start).hex)  \(digits)\(space)  \(signs)"
            text += Style.dim(line, when: isColored) + "\n"
        }
    }
}

extension FieldText {
    /// Returns a number and its assigned name, if it has one.
    static func number(_ number: Int, named name: String) -> String {
        guard let short = UInt16(exactly: number) else { return text(number, named: name) }
        let meaning =
            switch name {
            case "company", "manufacturer": AssignedNumbers.companyName(short)
            case "appearance": AssignedNumbers.appearanceName(short)
            default: nil as String?
            }
        if let meaning { return "0x\(short.hex) (\(meaning))" }
        return text(number, named: name)
    }

    /// Returns the name of a UUID in parentheses; empty if there is none.
    static func note(_ text: String, named name: String) -> String {
        guard ["uuid", "type", "services", "solicited"].contains(name), let uuid = try? BluetoothUUID(text),
            let meaning = AssignedNumbers.name(of: uuid)
        else { return "" }
        return " (\(meaning))"
    }
}

extension AdvertisingFlags {
    /// The octet, and the names of its bits in the Core Specification Supplement, Part A, 1.3.
    fileprivate var words: String {
        let names = [
            "LE Limited Discoverable Mode", "LE General Discoverable Mode", "BR/EDR Not Supported",
            "Simultaneous LE and BR/EDR (Controller)", "Simultaneous LE and BR/EDR (Host)",
        ]
        let set = names.enumerated().filter { rawValue & 1 << UInt8($0.offset) != 0 }.map(\.element)
        return "0x\(rawValue.hex)" + (set.isEmpty ? "" : " (\(set.joined(separator: ", ")))")
    }
}

extension Record.Direction {
    /// The direction as JSON output writes it.
    var text: String { self == .hostToController ? "host→controller" : "controller→host" }
}
