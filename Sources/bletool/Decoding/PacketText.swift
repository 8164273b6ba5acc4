import ArgumentParser
import AssignedNumbers
import BLECore
import HCI
import Recordings

/// The kind of time that a line shows.
enum LineTime: String, CaseIterable, ExpressibleByArgument {
    /// Seconds since the recording's first packet.
    case relative
    /// Date and time of day in UTC.
    case absolute
}

struct PacketText {
    let isColored: Bool
    /// The kind of time that lines show.
    let time: LineTime
    private var clock = RecordingClock()
    /// The names of UUIDs, each looked up once.
    private var labels: [BluetoothUUID: String] = [:]

    init(isColored: Bool, time: LineTime = .relative) { (self.isColored, self.time) = (isColored, time) }

    /// Adds a line: number, seconds since the recording's `start` or the date and time, direction,
    /// connection, protocol, name, attribute and fields.
    mutating func appendLine(_ packet: DecodedPacket, since start: RecordingTime, to text: inout String) {
        let top = packet.top
        text.append(padded: String(packet.frame), 6)
        text += " "
        switch time {
        case .relative:
            text.append(padded: Self.seconds(packet.time.microseconds &- start.microseconds), 12)
        case .absolute: text += clock.text(packet.time)
        }
        text += packet.direction.map { $0 == .hostToController ? " → " : " ← " } ?? " · "
        if packet.adapter != 0, packet.adapter != 0xffff { text += "hci\(packet.adapter) " }
        if let connection = packet.connection { text += connection.rawValue.hex + " " }
        text += Style.dim(top.layer.rawValue, when: isColored)
        text += " "
        text += Style.bold(top.name.printableFast, when: isColored)
        if let attribute = packet.attribute, let uuid = attribute.uuid {
            text += " "
            if let characteristic = attribute.characteristic {
                text += Style.cyan(label(characteristic), when: isColored)
                text += " / "
            }
            text += Style.cyan(label(uuid), when: isColored)
        }
        Self.append(top.fields, cut: 64, to: &text)
        if let reading = reading(packet) { text += " (\(reading))" }
        if let request = packet.request { text += " (\(request.text))" }
        if let part = packet.part { text += " (\(part))" }
        for layer in packet.layers {
            if let problem = layer.problem {
                text += " "
                text += Style.red("problem: \(problem.printableFast)", when: isColored)
            }
        }
        text += "\n"
    }

    /// Returns the value of a known attribute as `gatt read` shows it.
    func reading(_ packet: DecodedPacket) -> String? {
        guard let uuid = packet.attribute?.uuid, let value = packet.value, let type = ValueType(of: uuid),
            type.reading(value) != nil
        else { return nil }
        let text = ValueFormat.auto.text(value, type: type)
        return text.isEmpty ? nil : text.utf8.count > 64 ? "\(text.prefix(60))…" : text
    }

    private mutating func label(_ uuid: BluetoothUUID) -> String {
        if let label = labels[uuid] { return label }
        let label = uuid.label.printableFast
        // A recording usually has few UUIDs, but a damaged one can contain any number.
        if labels.count < 1000 { labels[uuid] = label }
        return label
    }

    /// Formats microseconds as seconds with six decimal places.
    static func seconds(_ passed: Int64) -> String {
        let (whole, rest) = passed.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        return (passed < 0 ? "-" : "") + String(whole) + "." + String(String(rest + 1_000_000).dropFirst())
    }

    /// Adds fields. Texts of more than `cut` octets are truncated.
    static func append(_ fields: DecodedFields, cut: Int, to text: inout String) {
        let isAdvertising = fields["advertising"] != nil
        for field in fields.all {
            // The `advertising` field shows what the octets mean.
            if isAdvertising, field.name == "data" { continue }
            text += " "
            text += field.name
            text += "="
            append(field.value, named: field.name, cut: cut, to: &text)
        }
    }

    private static func append(
        _ value: FieldValue, named name: String, cut: Int, to text: inout String
    ) {
        switch value {
        case .null: text += "none"
        case .described(_, let words): text += words.printableFast
        case .bool(let flag): text += flag ? "true" : "false"
        case .number(let number):
            text += FieldText.text(number, named: name)
        case .text(let value):
            guard value.utf8.count > cut else {
                text += value.printableFast
                return
            }
            text += value.prefix(60).printableFast
            text += "…"
        case .list(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += ", " }
                append(value, named: name, cut: cut, to: &text)
            }
            text += "]"
        case .fields(let fields):
            text += "{"
            let isAdvertising = fields["advertising"] != nil
            for (index, field) in fields.all.enumerated() {
                // The `advertising` field shows what the octets mean.
                if isAdvertising, field.name == "data" { continue }
                if index > 0 { text += " " }
                text += field.name
                text += "="
                append(field.value, named: field.name, cut: cut, to: &text)
            }
            text += "}"
        }
    }
}

/// The formatting of fields for text output.
enum FieldText {
    /// Returns whether a number is usually shown in hexadecimal.
    static func isHandle(_ name: String) -> Bool {
        switch name {
        case "handle", "endHandle", "valueHandle", "included", "handles", "connection": true
        default: false
        }
    }

    /// Formats a number: handles, companies and masks in hexadecimal.
    static func text(_ number: Int, named name: String) -> String {
        if isHandle(name) || isCompany(name), let short = UInt16(exactly: number) { return "0x\(short.hex)" }
        let isMask = (name == "mask" || name.hasSuffix("Mask")) && number >= 0
        return isMask ? "0x\(String(number, radix: 16))" : String(number)
    }

    /// Returns whether a number is a company identifier.
    static func isCompany(_ name: String) -> Bool { name == "company" || name == "manufacturer" }
}

extension AnsweredRequest {
    /// The time until the answer, and the number of the request's packet.
    var text: String {
        let (whole, rest) = latency.magnitude.quotientAndRemainder(dividingBy: 1000)
        return "\(latency < 0 ? "-" : "")\(whole).\(String(rest + 1000).dropFirst()) ms after \(frame)"
    }
}

extension DecodedPacket {
    /// How much of the packet was recorded, if it is not all of it.
    var part: String? {
        missing > 0 ? "\(outer.bytes.count) of \(outer.bytes.count + missing) octets recorded" : nil
    }
}

extension DecodedAttribute {
    /// The names of the attribute's types, or nil if discovery did not find them.
    var label: String? {
        guard let uuid else { return nil }
        let name = uuid.label
        return characteristic.map { "\($0.label) / \(name)" } ?? name
    }
}

extension BluetoothUUID {
    /// The name that an attribute of this type has, otherwise the UUID.
    var label: String { Names.attribute(self) ?? description }
}

extension String {
    /// Appends a text that is right-aligned in a column of `width`.
    mutating func append(padded text: String, _ width: Int) {
        for _ in 0..<max(0, width - text.utf8.count) { self += " " }
        self += text
    }
}

extension StringProtocol {
    /// The text made safe for a terminal, with a fast path for texts in printable ASCII, which nearly all
    /// are.
    var printableFast: String {
        utf8.allSatisfy { (0x20...0x7e).contains($0) } ? String(self) : printable
    }
}
