/// What a Low Energy controller can do (Core Specification 5.4, Vol 6, Part B, 4.6).
public struct LEFeatures: OptionSet, HCICode {
    /// The bits.
    public let rawValue: UInt64

    /// The features of those bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// What a controller can do on BR/EDR and how it combines it with Low Energy: page 0 of the LMP features
/// (Core Specification 5.4, Vol 2, Part C, 3.3). Only the bits that concern Low Energy have names here.
public struct LMPFeatures: OptionSet, HCICode {
    /// The bits.
    public let rawValue: UInt64

    /// The features of those bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// BR/EDR is not supported: this is a Low Energy controller only.
    public static let brEDRNotSupported = LMPFeatures(rawValue: 1 << 37)
    /// Low Energy is supported.
    public static let leSupported = LMPFeatures(rawValue: 1 << 38)
    /// Low Energy and BR/EDR to the same device at the same time.
    public static let simultaneousLEAndBREDR = LMPFeatures(rawValue: 1 << 49)
}

extension LEFeatures {
    /// LE Encryption.
    public static let encryption = LEFeatures(rawValue: 1 << 0)
    /// Connection Parameters Request Procedure.
    public static let connectionParametersRequest = LEFeatures(rawValue: 1 << 1)
    /// Extended Reject Indication.
    public static let extendedRejectIndication = LEFeatures(rawValue: 1 << 2)
    /// Peripheral-initiated Features Exchange.
    public static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
    /// LE Ping.
    public static let ping = LEFeatures(rawValue: 1 << 4)
    /// LE Data Packet Length Extension.
    public static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
    /// LL Privacy.
    public static let privacy = LEFeatures(rawValue: 1 << 6)
    /// Extended Scanning Filter Policies.
    public static let extendedScanningFilterPolicies = LEFeatures(rawValue: 1 << 7)
    /// LE 2M PHY.
    public static let le2MPHY = LEFeatures(rawValue: 1 << 8)
    /// Stable Modulation Index - Transmitter.
    public static let stableModulationIndexTransmitter = LEFeatures(rawValue: 1 << 9)
    /// Stable Modulation Index - Receiver.
    public static let stableModulationIndexReceiver = LEFeatures(rawValue: 1 << 10)
    /// LE Coded PHY.
    public static let leCodedPHY = LEFeatures(rawValue: 1 << 11)
    /// LE Extended Advertising.
    public static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
    /// LE Periodic Advertising.
    public static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)
    /// Channel Selection Algorithm #2.
    public static let channelSelectionAlgorithm2 = LEFeatures(rawValue: 1 << 14)
    /// LE Power Class 1.
    public static let powerClass1 = LEFeatures(rawValue: 1 << 15)
    /// Minimum Number of Used Channels Procedure.
    public static let minimumNumberOfUsedChannels = LEFeatures(rawValue: 1 << 16)
    /// Connection CTE Request.
    public static let connectionCTERequest = LEFeatures(rawValue: 1 << 17)
    /// Connection CTE Response.
    public static let connectionCTEResponse = LEFeatures(rawValue: 1 << 18)
    /// Connectionless CTE Transmitter.
    public static let connectionlessCTETransmitter = LEFeatures(rawValue: 1 << 19)
    /// Connectionless CTE Receiver.
    public static let connectionlessCTEReceiver = LEFeatures(rawValue: 1 << 20)
    /// Antenna Switching During CTE Transmission (AoD).
    public static let antennaSwitchingTransmission = LEFeatures(rawValue: 1 << 21)
    /// Antenna Switching During CTE Reception (AoA).
    public static let antennaSwitchingReception = LEFeatures(rawValue: 1 << 22)
    /// Receiving Constant Tone Extensions.
    public static let receivingConstantToneExtensions = LEFeatures(rawValue: 1 << 23)
    /// Periodic Advertising Sync Transfer - Sender.
    public static let periodicAdvertisingSyncTransferSender = LEFeatures(rawValue: 1 << 24)
    /// Periodic Advertising Sync Transfer - Recipient.
    public static let periodicAdvertisingSyncTransferRecipient = LEFeatures(rawValue: 1 << 25)
    /// Sleep Clock Accuracy Updates.
    public static let sleepClockAccuracyUpdates = LEFeatures(rawValue: 1 << 26)
    /// Remote Public Key Validation.
    public static let remotePublicKeyValidation = LEFeatures(rawValue: 1 << 27)
    /// Connected Isochronous Stream - Central.
    public static let connectedIsochronousStreamCentral = LEFeatures(rawValue: 1 << 28)
    /// Connected Isochronous Stream - Peripheral.
    public static let connectedIsochronousStreamPeripheral = LEFeatures(rawValue: 1 << 29)
    /// Isochronous Broadcaster.
    public static let isochronousBroadcaster = LEFeatures(rawValue: 1 << 30)
    /// Synchronized Receiver.
    public static let synchronizedReceiver = LEFeatures(rawValue: 1 << 31)
    /// Connected Isochronous Stream (Host Support).
    public static let connectedIsochronousStreamHost = LEFeatures(rawValue: 1 << 32)
    /// LE Power Control Request; bit 34 is always the same.
    public static let powerControlRequest = LEFeatures(rawValue: 1 << 33)
    /// LE Path Loss Monitoring.
    public static let pathLossMonitoring = LEFeatures(rawValue: 1 << 35)
    /// Periodic Advertising ADI support.
    public static let periodicAdvertisingADI = LEFeatures(rawValue: 1 << 36)
    /// Connection Subrating.
    public static let connectionSubrating = LEFeatures(rawValue: 1 << 37)
    /// Connection Subrating (Host Support).
    public static let connectionSubratingHost = LEFeatures(rawValue: 1 << 38)
    /// Channel Classification.
    public static let channelClassification = LEFeatures(rawValue: 1 << 39)
    /// Advertising Coding Selection.
    public static let advertisingCodingSelection = LEFeatures(rawValue: 1 << 40)
    /// Advertising Coding Selection (Host Support).
    public static let advertisingCodingSelectionHost = LEFeatures(rawValue: 1 << 41)
    /// Periodic Advertising with Responses - Advertiser.
    public static let periodicAdvertisingWithResponsesAdvertiser = LEFeatures(rawValue: 1 << 43)
    /// Periodic Advertising with Responses - Scanner.
    public static let periodicAdvertisingWithResponsesScanner = LEFeatures(rawValue: 1 << 44)
}
