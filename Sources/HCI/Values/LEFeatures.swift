/// The features of a Low Energy controller (Core Specification 5.4, Vol 6, Part B, 4.6).
public struct LEFeatures: OptionSet, HCICode {
    /// The bits of the feature set.
    public let rawValue: UInt64

    /// Creates a set from the feature bits of the Link Layer (Vol 6, Part B, 4.6).
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The features of a controller on BR/EDR and in combination with Low Energy: page 0 of the LMP features
/// (Core Specification 5.4, Vol 2, Part C, 3.3). Only the bits that concern Low Energy have names here.
package struct LMPFeatures: OptionSet, HCICode {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// BR/EDR is not supported: this is a Low Energy controller only.
    package static let brEDRNotSupported = LMPFeatures(rawValue: 1 << 37)
    /// The controller supports Low Energy.
    package static let leSupported = LMPFeatures(rawValue: 1 << 38)
    /// The controller supports Low Energy and BR/EDR to the same device at the same time.
    package static let simultaneousLEAndBREDR = LMPFeatures(rawValue: 1 << 49)
}

extension LEFeatures {
    /// LE Encryption: links can be encrypted.
    public static let encryption = LEFeatures(rawValue: 1 << 0)
    /// Connection Parameters Request Procedure: a peripheral can request parameters through the link layer.
    public static let connectionParametersRequest = LEFeatures(rawValue: 1 << 1)
    /// The feature Extended Reject Indication, bit 2.
    public static let extendedRejectIndication = LEFeatures(rawValue: 1 << 2)
    /// The feature Peripheral-initiated Features Exchange, bit 3.
    public static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
    /// The feature LE Ping, bit 4.
    public static let ping = LEFeatures(rawValue: 1 << 4)
    /// Packets of up to 251 octets; without this feature the maximum is 27 (Vol 6, Part B, 4.6).
    public static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
    /// LL Privacy: the controller resolves private addresses.
    public static let privacy = LEFeatures(rawValue: 1 << 6)
    /// The feature Extended Scanning Filter Policies, bit 7.
    public static let extendedScanningFilterPolicies = LEFeatures(rawValue: 1 << 7)
    /// The LE 2M PHY, with 2 Mbit/s (Vol 6, Part B, 4.6).
    public static let le2MPHY = LEFeatures(rawValue: 1 << 8)
    /// The feature Stable Modulation Index - Transmitter, bit 9.
    public static let stableModulationIndexTransmitter = LEFeatures(rawValue: 1 << 9)
    /// The feature Stable Modulation Index - Receiver, bit 10.
    public static let stableModulationIndexReceiver = LEFeatures(rawValue: 1 << 10)
    /// LE Coded PHY, for long range.
    public static let leCodedPHY = LEFeatures(rawValue: 1 << 11)
    /// LE Extended Advertising: several sets, other PHYs, longer data.
    public static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
    /// LE Periodic Advertising: trains of packets at fixed intervals.
    public static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)
    /// The feature Channel Selection Algorithm #2, bit 14.
    public static let channelSelectionAlgorithm2 = LEFeatures(rawValue: 1 << 14)
    /// The feature LE Power Class 1, bit 15.
    public static let powerClass1 = LEFeatures(rawValue: 1 << 15)
    /// The feature Minimum Number of Used Channels Procedure, bit 16.
    public static let minimumNumberOfUsedChannels = LEFeatures(rawValue: 1 << 16)
    /// The feature Connection CTE Request, bit 17.
    public static let connectionCTERequest = LEFeatures(rawValue: 1 << 17)
    /// The feature Connection CTE Response, bit 18.
    public static let connectionCTEResponse = LEFeatures(rawValue: 1 << 18)
    /// The feature Connectionless CTE Transmitter, bit 19.
    public static let connectionlessCTETransmitter = LEFeatures(rawValue: 1 << 19)
    /// The feature Connectionless CTE Receiver, bit 20.
    public static let connectionlessCTEReceiver = LEFeatures(rawValue: 1 << 20)
    /// The feature Antenna Switching During CTE Transmission (AoD), bit 21.
    public static let antennaSwitchingTransmission = LEFeatures(rawValue: 1 << 21)
    /// The feature Antenna Switching During CTE Reception (AoA), bit 22.
    public static let antennaSwitchingReception = LEFeatures(rawValue: 1 << 22)
    /// The feature Receiving Constant Tone Extensions, bit 23.
    public static let receivingConstantToneExtensions = LEFeatures(rawValue: 1 << 23)
    /// The feature Periodic Advertising Sync Transfer - Sender, bit 24.
    public static let periodicAdvertisingSyncTransferSender = LEFeatures(rawValue: 1 << 24)
    /// The feature Periodic Advertising Sync Transfer - Recipient, bit 25.
    public static let periodicAdvertisingSyncTransferRecipient = LEFeatures(rawValue: 1 << 25)
    /// The feature Sleep Clock Accuracy Updates, bit 26.
    public static let sleepClockAccuracyUpdates = LEFeatures(rawValue: 1 << 26)
    /// The feature Remote Public Key Validation, bit 27.
    public static let remotePublicKeyValidation = LEFeatures(rawValue: 1 << 27)
    /// The feature Connected Isochronous Stream - Central, bit 28.
    public static let connectedIsochronousStreamCentral = LEFeatures(rawValue: 1 << 28)
    /// The feature Connected Isochronous Stream - Peripheral, bit 29.
    public static let connectedIsochronousStreamPeripheral = LEFeatures(rawValue: 1 << 29)
    /// The feature Isochronous Broadcaster, bit 30.
    public static let isochronousBroadcaster = LEFeatures(rawValue: 1 << 30)
    /// The feature Synchronized Receiver, bit 31.
    public static let synchronizedReceiver = LEFeatures(rawValue: 1 << 31)
    /// The feature Connected Isochronous Stream (Host Support), bit 32.
    public static let connectedIsochronousStreamHost = LEFeatures(rawValue: 1 << 32)
    /// LE Power Control Request; bit 34 always has the same value.
    public static let powerControlRequest = LEFeatures(rawValue: 1 << 33)
    /// The feature LE Path Loss Monitoring, bit 35.
    public static let pathLossMonitoring = LEFeatures(rawValue: 1 << 35)
    /// The feature Periodic Advertising ADI support, bit 36.
    public static let periodicAdvertisingADI = LEFeatures(rawValue: 1 << 36)
    /// The feature Connection Subrating, bit 37.
    public static let connectionSubrating = LEFeatures(rawValue: 1 << 37)
    /// The feature Connection Subrating (Host Support), bit 38.
    public static let connectionSubratingHost = LEFeatures(rawValue: 1 << 38)
    /// The feature Channel Classification, bit 39.
    public static let channelClassification = LEFeatures(rawValue: 1 << 39)
    /// The feature Advertising Coding Selection, bit 40.
    public static let advertisingCodingSelection = LEFeatures(rawValue: 1 << 40)
    /// The feature Advertising Coding Selection (Host Support), bit 41.
    public static let advertisingCodingSelectionHost = LEFeatures(rawValue: 1 << 41)
    /// The feature Periodic Advertising with Responses - Advertiser, bit 43.
    public static let periodicAdvertisingWithResponsesAdvertiser = LEFeatures(rawValue: 1 << 43)
    /// The feature Periodic Advertising with Responses - Scanner, bit 44.
    public static let periodicAdvertisingWithResponsesScanner = LEFeatures(rawValue: 1 << 44)
}

extension LEFeatures {
    /// The names of the features in the order of their bits; a bit without a name is called "bit 42".
    public var names: [String] {
        (0..<64).filter { rawValue >> $0 & 1 == 1 }.map { bit in
            Self.namesOfBits.indices.contains(bit) && !Self.namesOfBits[bit].isEmpty
                ? Self.namesOfBits[bit] : "bit \(bit)"
        }
    }

    // Core Specification 5.4, Vol 6, Part B, 4.6, table 4.4.
    private static let namesOfBits = [
        "LE Encryption", "Connection Parameters Request Procedure", "Extended Reject Indication",
        "Peripheral-initiated Features Exchange", "LE Ping", "LE Data Packet Length Extension",
        "LL Privacy", "Extended Scanning Filter Policies",
        "LE 2M PHY", "Stable Modulation Index - Transmitter", "Stable Modulation Index - Receiver",
        "LE Coded PHY", "LE Extended Advertising", "LE Periodic Advertising",
        "Channel Selection Algorithm #2", "LE Power Class 1",
        "Minimum Number of Used Channels Procedure", "Connection CTE Request", "Connection CTE Response",
        "Connectionless CTE Transmitter", "Connectionless CTE Receiver",
        "Antenna Switching During CTE Transmission (AoD)", "Antenna Switching During CTE Reception (AoA)",
        "Receiving Constant Tone Extensions",
        "Periodic Advertising Sync Transfer - Sender", "Periodic Advertising Sync Transfer - Recipient",
        "Sleep Clock Accuracy Updates", "Remote Public Key Validation",
        "Connected Isochronous Stream - Central", "Connected Isochronous Stream - Peripheral",
        "Isochronous Broadcaster", "Synchronized Receiver",
        "Connected Isochronous Stream (Host Support)", "LE Power Control Request",
        "LE Power Control Request", "LE Path Loss Monitoring", "Periodic Advertising ADI support",
        "Connection Subrating", "Connection Subrating (Host Support)", "Channel Classification",
        "Advertising Coding Selection", "Advertising Coding Selection (Host Support)", "",
        "Periodic Advertising with Responses - Advertiser",
        "Periodic Advertising with Responses - Scanner",
    ]
}
