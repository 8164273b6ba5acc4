import BLE
import BLEAdvertising
import BLECore

/// The result of `advertise --dry-run`: the packets, the octets of each field, and how the fields that did
/// not fit were moved, shortened or left out.
struct PacketsEvent: Event {
    var plan: AdvertisingPlan
    /// Whether the set is scannable, so that an extended payload is its scan response.
    var isScannable = false
    var periodic: PeriodicAdvertisingTrain?

    var json: JSONValue {
        [
            "event": "packets", "data": JSONValue(hex: plan.data),
            "scanResponse": JSONValue(hex: plan.scanResponse),
            "extended": JSONValue(plan.extended?.hex), "octets": JSONValue(plan.octets),
            "limit": JSONValue(plan.limit), "scanResponseOctets": JSONValue(plan.scanResponse.count),
            "fields": .array(plan.fields.map(\.json)), "overflow": .array(plan.overflow.map(\.json)),
            "periodic": periodic?.json ?? nil,
        ]
    }

    func lines(colored: Bool) -> [String] {
        var lines: [String] = []
        for (title, bytes, limit) in packets where !bytes.isEmpty || title == packets[0].title {
            lines.append(Style.bold("\(title), \(bytes.count) of \(limit) octets", when: colored))
            lines.append("  " + (bytes.isEmpty ? Style.dim("nothing", when: colored) : bytes.hex))
        }
        if let periodic {
            lines.append(
                Style.bold("periodic data, \(periodic.data.count) of 1650 octets", when: colored))
            lines.append(
                "  " + (periodic.data.isEmpty ? Style.dim("nothing", when: colored) : periodic.data.hex))
        }
        if !plan.fields.isEmpty { lines += [""] + fields.lines(colored: colored) }
        let overflow = plan.overflow.map(\.text) + (plan.isInvisibleToLegacyScanners ? [Self.invisible] : [])
        return lines + (overflow.isEmpty ? [] : [""] + overflow)
    }

    /// A note about scanners that do not receive extended advertising.
    static let invisible = "scanners that support only legacy advertising do not receive extended advertising"

    private var packets: [(title: String, bytes: [UInt8], limit: Int)] {
        if let extended = plan.extended {
            return [("extended \(isScannable ? "scan response" : "advertising data")", extended, plan.limit)]
        }
        return [("advertising data", plan.data, plan.limit), ("scan response", plan.scanResponse, 31)]
    }

    /// The table of fields. They are in the order of the packets, so the octets of each follow those of the
    /// previous field.
    private var fields: Table {
        var table = Table(columns: [("field", .left), ("octets", .right), ("in", .left), ("bytes", .left)])
        var rest: [AdvertisingPlan.Place: ArraySlice<UInt8>] = [
            .data: plan.data[...], .scanResponse: plan.scanResponse[...],
            .extended: (plan.extended ?? [])[...],
        ]
        for field in plan.fields {
            let bytes = rest[field.place]?.prefix(field.octets) ?? []
            rest[field.place]?.removeFirst(bytes.count)
            table.rows.append([field.field.rawValue, "\(field.octets)", field.place.rawValue, bytes.hex])
        }
        return table
    }
}

extension PeriodicAdvertisingTrain {
    /// The value of the member `periodic`.
    var json: JSONValue { ["data": JSONValue(hex: data), "interval": JSONValue(interval.text)] }
}

extension AdvertisingPlan.Placement {
    fileprivate var json: JSONValue {
        ["field": JSONValue(field.rawValue), "octets": JSONValue(octets), "in": JSONValue(place.rawValue)]
    }
}

extension AdvertisingPlan.Overflow {
    /// The value of the member `overflow`.
    var json: JSONValue {
        [
            "field": JSONValue(field.rawValue), "action": JSONValue(action.rawValue),
            "octets": JSONValue(octets),
        ]
    }

    /// The overflow in text output.
    var text: String {
        switch action {
        case .scanResponse: "\(field.rawValue): in the scan response, \(octets) octets"
        case .shortened: "\(field.rawValue): shortened by \(octets) octets"
        case .dropped: "\(field.rawValue): the list is incomplete, \(octets) octets are left out"
        case .extended: "\(field.rawValue): needs extended advertising, \(octets) octets"
        }
    }
}
