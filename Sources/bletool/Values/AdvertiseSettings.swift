import BLE
import BLEAdvertising
import BLECore
import HCI

/// What to advertise and how, from options or from a configuration.
struct AdvertiseSettings: Hashable, Sendable {
    /// What the packets say. Its transmit power is filled in by `plan`, and by the library when the
    /// controller has chosen.
    var content = AdvertisingContent()
    /// What the device looks like, where the packets are given as they are.
    var deviceAppearance: Appearance?
    /// What others may do.
    var kind = AdvertisingKind.connectable
    /// What to do when the content does not fit.
    var overflow = OverflowPolicy.fail
    /// Whether to use extended packets even when legacy ones do.
    var isExtended = false
    /// The time from one advertisement to the next; nil leaves it to the host.
    var interval: Duration?
    /// The transmit power to ask the controller for, in dBm.
    var power: Int8?
    /// Whether the packets contain the power.
    var includesTxPower = false
    /// The primary channels to send on.
    var channels = AdvertisingChannels.all
    /// Where advertising events begin; nil leaves it to the host.
    var primaryPHY: PHY?
    /// Where the data of extended packets are; nil leaves it to the host.
    var secondaryPHY: PHY?
    /// The one device that it is for.
    var direction: AdvertisingDirection?
    /// Whether it hides the address.
    var isAnonymous = false
    /// The number of the set for scanners.
    var sid: UInt8?
    /// How many events to send.
    var maximumEvents: UInt8?
    /// The periodic train that goes with it.
    var periodic: PeriodicSettings?

    /// Whether it is of extended packets, because that was asked for, or because only those can do it.
    var usesExtended: Bool {
        isExtended || isAnonymous || primaryPHY == .leCoded || secondaryPHY != nil || periodic != nil
    }

    /// How to send the packets of `plan`.
    func request(_ plan: AdvertisingPlan) throws(AdvertisingPlanError) -> AdvertisingRequest {
        var request = AdvertisingRequest(plan, kind: kind)
        request.interval = interval ?? request.interval
        request.power = power
        request.correctsPowerField = includesTxPower
        request.channels = channels
        request.primaryPHY = primaryPHY ?? request.primaryPHY
        request.secondaryPHY = secondaryPHY ?? request.secondaryPHY
        request.direction = direction
        request.isAnonymous = isAnonymous
        request.sid = sid
        request.maximumEvents = maximumEvents
        request.periodic = try periodic?.train(plan)
        return request
    }

    /// The packets, with the power that is asked for.
    func plan() throws(AdvertisingPlanError) -> AdvertisingPlan {
        // In legacy packets, directed advertising says nothing else.
        if direction != nil, !usesExtended { return .empty }
        var content = content
        content.txPower = includesTxPower ? power ?? 0 : nil
        return try AdvertisingPlan(content, kind: kind, overflow: overflow, extended: usesExtended)
    }

    /// The interval, 20 ms to 10.24 s, or with extended packets to 10,485.76 s (Core Specification 5.4,
    /// Vol 4, Part E, 7.8.5 and 7.8.53).
    mutating func setInterval(_ interval: Duration) throws(BadInput) {
        let most: Duration = usesExtended ? .microseconds(0xff_ffff * 625) : .milliseconds(10_240)
        guard interval >= .milliseconds(20), interval <= most else {
            let isLong = !usesExtended && interval > most
            throw BadInput(
                "the interval is 20ms to \(most.text), not \(interval.text)",
                hint: isLong
                    ? "extended advertising goes up to \(Duration.microseconds(0xff_ffff * 625).text)" : nil)
        }
        self.interval = interval
    }
}

// MARK: Texts

extension AdvertisingChannels {
    /// Numbers with commas between them.
    init(text: some StringProtocol) throws(BadInput) {
        self = []
        for number in text.split(separator: ",", omittingEmptySubsequences: false) {
            switch number {
            case "37": insert(.channel37)
            case "38": insert(.channel38)
            case "39": insert(.channel39)
            default:
                throw BadInput(
                    "\(number.quoted) is no advertising channel", hint: "37,38,39 are all there are")
            }
        }
    }
}

extension AdvertisingFlags {
    /// The flags that two hexadecimal digits spell.
    init(text: some StringProtocol) throws(BadInput) {
        let octets = try [UInt8](hexText: text, count: 1...1)
        self.init(rawValue: octets[0])
    }
}

extension CompanyIdentifier {
    /// The company of that number.
    init(text: some StringProtocol) throws(BadInput) {
        self.init(rawValue: try UInt16(text: text, "a company's number"))
    }
}

extension ManufacturerData {
    /// Reads the form `ID:HEX`, as in `0xffff:0102`.
    init(text: some StringProtocol) throws(BadInput) {
        let (company, data) = try text.halves("ID:HEX, as in 0xffff:0102")
        self.init(try CompanyIdentifier(text: company), try [UInt8](hexText: data))
    }
}

extension ServiceData {
    /// Reads the form `UUID:HEX`, as in `feaa:0102`.
    init(text: some StringProtocol, names: UUIDNames) throws(BadInput) {
        let (uuid, data) = try text.halves("UUID:HEX, as in feaa:0102")
        self.init(try BluetoothUUID(text: uuid, names: names), try [UInt8](hexText: data))
    }
}

extension Appearance {
    /// The appearance of that number.
    init(text: some StringProtocol) throws(BadInput) {
        self.init(rawValue: try UInt16(text: text, "an appearance"))
    }
}

extension AdvertisedURI {
    /// The URI, which begins with a scheme.
    init(text: some StringProtocol) throws(BadInput) {
        let scheme = text.prefix { $0 != ":" }
        guard scheme.count < text.count, scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw BadInput(
                "\(text.quoted) is not a URI", hint: "as in https://example.org; others than ASCII as %E2")
        }
        self.init(String(text))
    }
}

extension IBeacon {
    /// Reads the form `UUID,MAJOR,MINOR,POWER`. The power is that at one meter, in dBm.
    init(text: some StringProtocol) throws(BadInput) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4 else {
            throw BadInput(
                "\(text.quoted) is not UUID,MAJOR,MINOR,POWER",
                hint:
                    "as in e2c56db5-dffb-48d2-b060-d0f5a71096e0,1,2,-59; the power is that at one meter, in dBm"
            )
        }
        guard let uuid = try? BluetoothUUID(parts[0]), parts[0].utf8.count == 36 else {
            throw BadInput("\(parts[0].quoted) is not a UUID of 32 hex digits with dashes")
        }
        self.init(
            uuid: uuid, major: try UInt16(text: parts[1], "major"),
            minor: try UInt16(text: parts[2], "minor"),
            measuredPower: try Int8(text: parts[3], "the power"))
    }
}

extension EddystoneURL {
    /// Encodes a web address. One that does not fit an Eddystone-URL is refused.
    init(text: some StringProtocol) throws(BadInput) {
        do {
            self = try EddystoneURL(String(text))
        } catch {
            switch error {
            case .invalid(_, let problem): throw BadInput("\(problem)")
            case .malformed(_, let error): throw BadInput("\(error)")
            case .overflow(let overflow), .noScanResponse(let overflow):
                throw BadInput(
                    "\(text.quoted) takes \(overflow.octets) octets; an Eddystone-URL has \(overflow.limit)",
                    hint: "the scheme and endings like .com/ count as one each; a short link helps")
            }
        }
    }
}

extension StringProtocol {
    /// What is before the last colon and what is after it.
    fileprivate func halves(_ form: String) throws(BadInput) -> (SubSequence, SubSequence) {
        guard let colon = lastIndex(of: ":") else { throw BadInput("\(quoted) is not \(form)") }
        return (self[..<colon], self[index(after: colon)...])
    }
}
