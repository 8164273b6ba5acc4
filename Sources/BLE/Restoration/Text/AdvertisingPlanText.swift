import BLEAdvertising
import BLECore

/// The lines of a file that describe packets to advertise, among other lines.
extension AdvertisingPlan {
    func write(to writer: inout TextWriter) {
        writer.line("data", TextValue.text(data))
        writer.line("scan-response", TextValue.text(scanResponse))
        writer.line("extended", ifThere: extended.map(TextValue.text))
        writer.line("limit", "\(limit)")
        writer.line("name", ifThere: name.map(TextValue.escaped))
        for each in fields {
            writer.line("field", each.field.rawValue, "\(each.octets)", each.place.rawValue)
        }
        for each in overflow {
            writer.line("overflow", each.field.rawValue, each.action.rawValue, "\(each.octets)")
        }
    }

    /// The content of the lines that were read so far.
    struct Parts {
        private var data: [UInt8] = []
        private var scanResponse: [UInt8] = []
        private var extended: [UInt8]?
        private var limit = AdvertisingPlan.empty.limit
        private var fields: [Placement] = []
        private var overflow: [Overflow] = []
        private var name: String?

        var plan: AdvertisingPlan {
            AdvertisingPlan(
                data: data, scanResponse: scanResponse, extended: extended, limit: limit, fields: fields,
                overflow: overflow, name: name)
        }

        /// Reads a line. Returns false when the line is not about the packets.
        mutating func read(_ line: TextSection.Line) throws(TextError) -> Bool {
            switch line.key {
            case "data": data = try line.value(TextValue.octets)
            case "scan-response": scanResponse = try line.value(TextValue.octets)
            case "extended": extended = try line.value(TextValue.octets)
            case "limit": limit = try line.value { Int($0) }
            case "name": name = try line.value(of: line.rest, TextValue.unescaped)
            case "field":
                let words = try line.values(3)
                fields.append(
                    Placement(
                        field: try line.value(of: words[0], Self.field),
                        octets: try line.value(of: words[1]) { Int($0) },
                        place: try line.value(of: words[2]) { Place(rawValue: String($0)) }))
            case "overflow":
                let words = try line.values(3)
                overflow.append(
                    Overflow(
                        field: try line.value(of: words[0], Self.field),
                        action: try line.value(of: words[1]) { Overflow.Action(rawValue: String($0)) },
                        octets: try line.value(of: words[2]) { Int($0) }))
            default: return false
            }
            return true
        }

        private static func field(_ word: Substring) -> AdvertisingContent.Field? {
            AdvertisingContent.Field(rawValue: String(word))
        }
    }
}
