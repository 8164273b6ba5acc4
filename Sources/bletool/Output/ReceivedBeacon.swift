import BLEAdvertising
import BLECore

/// A beacon as a scan shows it: opened when there is a key for it, in words and as an object.
struct ReceivedBeacon: Hashable, Sendable {
    /// The beacon, or the error that decoding it found.
    let beacon: Result<Beacon, DecodeError>
    /// What is wrong with it: malformed, cut, or closed to the keys that there are.
    let problem: String?

    /// The beacon that a company's data are; nil when they are something else.
    init?(_ data: ManufacturerData) {
        do throws(DecodeError) {
            guard let found = try Beacon(data) else { return nil }
            (beacon, problem) = (.success(found), nil)
        } catch {
            (beacon, problem) = (.failure(error), error.description)
        }
    }

    /// The beacon that a service's data are; nil when they are something else. `senders` are the addresses that it came
    /// from: what is encrypted is for one of them.
    init?(_ data: ServiceData, from senders: [DeviceAddress?], keys: BindKeys) {
        do throws(DecodeError) {
            guard let found = try Beacon(data) else { return nil }
            guard case .bthome(let closed) = found else {
                (beacon, problem) = (.success(found), nil)
                return
            }
            let (news, problem) = keys.opened(closed, from: senders)
            beacon = .success(.bthome(news))
            self.problem = problem ?? news.ending?.description
        } catch {
            (beacon, problem) = (.failure(error), error.description)
        }
    }

    /// Whether it says more than that it is malformed.
    var isReadable: Bool {
        if case .success = beacon { return true }
        return false
    }

    /// Its format, what it is there for, and what is wrong.
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
        let said = readings.isEmpty ? beacon.format : "\(beacon.format) \(readings.joined(separator: ", "))"
        return problem.map { "\(said) (\($0))" } ?? said
    }

    /// All that it says. The names end with the units; those of further values of a kind with `_2`, `_3`.
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
    /// The words of a name like a Swift property's: `dewPoint` is `dew point`, `referenceRSSI` is `reference RSSI`.
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
