import BLECore
import HCI

/// A numeric HCI code that is displayed as a word: the Swift name of the value, if the type has one.
protocol FieldWords: HCICode {
    /// The words for the numbers from zero, or for the bits from the lowest bit.
    static var words: [String] { get }
    /// The word for this number; nil if there is none.
    var word: String? { get }
}

extension FieldWords {
    var word: String? {
        Int(exactly: rawValue).flatMap { Self.words.indices.contains($0) ? Self.words[$0] : nil }
    }
}

extension FieldWords where Self: OptionSet {
    /// The words for the bits that are set, such as "connectable+legacy".
    var word: String? {
        let bits = (0..<RawValue.bitWidth).filter { rawValue >> $0 & 1 != 0 }
        guard !bits.isEmpty else { return "none" }
        let words = bits.map { Self.words.indices.contains($0) ? Self.words[$0] : "bit \($0)" }
        return words.joined(separator: "+")
    }
}

extension FieldValue {
    /// Creates a number that is displayed as its word.
    init(_ code: some FieldWords) {
        let number = FieldValue.number(Int(clamping: code.rawValue))
        self = code.word.map { .described(number, as: $0) } ?? number
    }

    /// Creates a time in HCI units. Zero means that no time is set, or that there is no limit.
    init(_ time: some HCITime) {
        self = .described(.number(Int(clamping: time.rawValue)), as: Self.text(time.duration))
    }

    /// Returns a power in dBm, or a change of power in dB; 127 means that no power is available.
    static func power(_ power: Int8, unit: String = "dBm") -> FieldValue {
        .described(.number(Int(power)), as: power == 127 ? "none" : "\(power) \(unit)")
    }

    /// Returns an address. All zeros mean no address, except where a controller reports its own address.
    static func address(_ address: DeviceAddress, named name: String) -> FieldValue {
        address.value == 0 && name != "address" ? .described(.name(address), as: "none") : .name(address)
    }

    /// Returns a number of a plain integer type, whose unit is known only from its field name.
    static func number(_ number: Int, named name: String) -> FieldValue {
        switch (name, number) {
        case ("sid", 0xff): .described(.number(number), as: "none")
        case ("time", _): .described(.number(number), as: "\(number) µs")
        case ("seconds", _): .described(.number(number), as: "\(number) s")
        default: .number(number)
        }
    }

    /// Returns a text such as "none", "0.625 ms", "15 ms" or "4 s".
    private static func text(_ time: Duration) -> String {
        let microseconds = time.nanoseconds / 1000
        guard microseconds > 0 else { return "none" }
        let (unit, name) = microseconds < 1_000_000 ? (1000, "ms") : (1_000_000, "s")
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: Int64(unit))
        guard rest > 0 else { return "\(whole) \(name)" }
        // The leading 1, which is then dropped, preserves leading zeros.
        var fraction = String(rest + Int64(unit)).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(whole).\(fraction) \(name)"
    }
}

// Addresses and connections.
extension OwnAddressType: FieldWords {
    static let words = ["public", "random", "resolvableOrPublic", "resolvableOrRandom"]
}
extension EncryptionMode: FieldWords {
    static let words = ["off", "on", "aesCCM"]
}
extension PHYSet: FieldWords {
    static let words = ["1m", "2m", "coded"]
}
extension PHYPreference.NoPreference: FieldWords {
    static let words = ["transmit", "receive"]
}
extension PHYAndCoding: FieldWords {
    static let words = ["none", "1m", "2m", "codedS8", "codedS2"]
}
extension LETransmitPowerReporting.Reason: FieldWords {
    static let words = ["localChange", "remoteChange", "readRemote"]
}
extension LETransmitPowerReporting.Flags: FieldWords {
    static let words = ["least", "greatest"]
}

// Advertising.
extension AdvertisingType: FieldWords {
    static let words = [
        "connectable", "directedHighDutyCycle", "scannable", "nonconnectable", "directedLowDutyCycle",
    ]
}
extension AdvertisingChannels: FieldWords {
    static let words = ["37", "38", "39"]
}
extension AdvertisingFilterPolicy: FieldWords {
    static let words = ["filterScanRequests", "filterConnections"]
}
extension LESetExtendedAdvertisingParameters.Properties: FieldWords {
    static let words = [
        "connectable", "scannable", "directed", "highDutyCycle", "legacy", "anonymous", "includesTxPower",
    ]
}
extension AdvertisingDataFragment.Operation: FieldWords {
    static let words = ["intermediate", "first", "last", "complete", "unchanged"]
}
extension AdvertisingDataFragment.Preference: FieldWords {
    static let words = ["fragment", "keepWhole"]
}
extension AdvertisingCoding: FieldWords {
    static let words = ["any", "prefersS2", "prefersS8", "requiresS2", "requiresS8"]
}

// Scanning and initiating.
extension ScanType: FieldWords {
    static let words = ["passive", "active"]
}
extension ScanFilterPolicy: FieldWords {
    static let words = ["acceptListOnly", "unresolvedDirected"]
}
extension InitiatorFilterPolicy: FieldWords {
    static let words = ["peer", "acceptList"]
}
extension LESetExtendedScanEnable.DuplicateFilter: FieldWords {
    static let words = ["off", "on", "eachPeriod"]
}
extension LEAdvertisingReports.Report.Kind: FieldWords {
    static let words = ["connectable", "directed", "scannable", "nonconnectable", "scanResponse"]
}
extension AdvertisingEventType: FieldWords {
    // The last two are the data status.
    static let words = [
        "connectable", "scannable", "directed", "scanResponse", "legacy", "moreToCome", "truncated",
    ]
}

// Periodic advertising.
extension ExcludedToneExtensions: FieldWords {
    static let words = [
        "angleOfArrival", "angleOfDeparture1us", "angleOfDeparture2us", "type3", "withoutExtension",
    ]
}
extension LEPeriodicAdvertisingReport.DataStatus: FieldWords {
    static let words = ["complete", "moreToCome", "truncated"]
}
extension LEPeriodicAdvertisingCreateSync.Options: FieldWords {
    static let words = ["advertiserList", "withoutReports", "filterDuplicates"]
}
extension LESetPeriodicAdvertisingReceiveEnable.Enable: FieldWords {
    static let words = ["reports", "filterDuplicates"]
}
extension SyncTransferParameters.Mode: FieldWords {
    static let words = ["ignore", "withoutReports", "withReports", "filteringDuplicates"]
}

// Signaling.
extension CommandReject.Reason: FieldWords {
    static let words = ["notUnderstood", "mtuExceeded", "invalidChannel"]
}
extension ConnectionParameterUpdateResponse.Result: FieldWords {
    static let words = ["accepted", "rejected"]
}
