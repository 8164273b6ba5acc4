import BLEAdvertising
import BLECore

/// A beacon as a scan shows it: decrypted if there is a key for it, as text and as a JSON object.
struct ReceivedBeacon: Hashable, Sendable {
    /// The beacon, or the error of decoding it.
    let beacon: Result<Beacon, DecodeError>
    /// The problem of the beacon, if any: malformed, truncated, or not decryptable with the keys.
    let problem: String?

    /// Decodes the beacon in manufacturer data, or returns nil if they are something else.
    init?(_ data: ManufacturerData) {
        do throws(DecodeError) {
            guard let found = try Beacon(data) else { return nil }
            (beacon, problem) = (.success(found), nil)
        } catch {
            (beacon, problem) = (.failure(error), error.description)
        }
    }

    /// Decodes the beacon in service data, or returns nil if they are something else. `senders` are the
    /// addresses of the sender. An encrypted beacon is decrypted with one of them.
    init?(_ data: ServiceData, from senders: [DeviceAddress?], keys: BindKeys) {
        do throws(DecodeError) {
            guard let found = try Beacon(data) else { return nil }
            guard case .bthome(let closed) = found else {
                (beacon, problem) = (.success(found), nil)
                return
            }
            let (packet, problem) = keys.opened(closed, from: senders)
            beacon = .success(.bthome(packet))
            self.problem = problem ?? packet.ending?.description
        } catch {
            (beacon, problem) = (.failure(error), error.description)
        }
    }

    /// Whether the beacon could be decoded.
    var isReadable: Bool {
        if case .success = beacon { return true }
        return false
    }

    /// The format, the main readings, and the problem.
    var text: String {
        guard case .success(let beacon) = beacon else { return problem ?? "" }
        let readings = beacon.readings.filter(\.isMain).map { reading in
            let value =
                switch reading.value {
                case .quantity(let value): value.description
                case .state(_, let word): word
                case .text(let text): text.printable
                case .octets(let octets): octets.hex
                }
            return "\(reading.name.spaced) \(value)"
        }
        let text = readings.isEmpty ? beacon.format : "\(beacon.format) \(readings.joined(separator: ", "))"
        return problem.map { "\(text) (\($0))" } ?? text
    }

    /// All readings. Names end with the unit, and those of further values of a kind with `_2`, `_3`.
    var json: JSONValue {
        var members: [JSONValue.Member] = []
        var counts: [String: Int] = [:]
        func append(_ name: String, _ value: JSONValue) {
            counts[name, default: 0] += 1
            let count = counts[name] ?? 1
            members.append(.init(count == 1 ? name : "\(name)_\(count)", value))
        }
        switch beacon {
        case .success(let beacon):
            append("format", JSONValue(beacon.format))
            for reading in beacon.readings {
                switch reading.value {
                case .quantity(let value):
                    append(reading.name + value.unit.suffix, JSONValue(number: value.number.description))
                case .state(let isOn, _): append(reading.name, .bool(isOn))
                case .text(let text): append(reading.name, JSONValue(text))
                case .octets(let octets): append(reading.name, JSONValue(hex: octets))
                }
            }
        case .failure(let error): append("format", JSONValue(error.packet))
        }
        append("problem", JSONValue(problem))
        return .object(members)
    }
}

extension String {
    /// The words of a camel-case name: `dewPoint` is `dew point`, `referenceRSSI` is `reference RSSI`.
    fileprivate var spaced: String {
        var words = [""]
        for character in self {
            let isCapital = character.isUppercase
            if isCapital, words.last?.last?.isUppercase == false { words.append("") }
            words[words.count - 1].append(character)
        }
        // Several capitals are an abbreviation.
        return words.map { $0.count > 1 && $0.allSatisfy(\.isUppercase) ? $0 : $0.lowercased() }
            .joined(separator: " ")
    }
}
