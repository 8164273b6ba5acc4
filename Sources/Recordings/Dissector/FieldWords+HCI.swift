import HCI

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
extension PHYPreference.Indifference: FieldWords {
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
