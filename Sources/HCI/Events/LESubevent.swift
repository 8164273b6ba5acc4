import BLEAdvertising
import BLECore

/// The kind of a Low Energy event, the first octet of an LE Meta event (Core Specification 5.4, Vol 4,
/// Part E, 7.7.65).
package struct LESubevent: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension LESubevent {
    /// LE Connection Complete, 7.7.65.1.
    package static let connectionComplete = LESubevent(rawValue: 0x01)
    /// LE Advertising Report, 7.7.65.2.
    package static let advertisingReport = LESubevent(rawValue: 0x02)
    /// LE Connection Update Complete, 7.7.65.3.
    package static let connectionUpdateComplete = LESubevent(rawValue: 0x03)
    /// LE Read Remote Features Complete, 7.7.65.4.
    package static let readRemoteFeaturesComplete = LESubevent(rawValue: 0x04)
    /// LE Long Term Key Request, 7.7.65.5.
    package static let longTermKeyRequest = LESubevent(rawValue: 0x05)
    /// LE Remote Connection Parameter Request, 7.7.65.6.
    package static let remoteConnectionParameterRequest = LESubevent(rawValue: 0x06)
    /// LE Data Length Change, 7.7.65.7.
    package static let dataLengthChange = LESubevent(rawValue: 0x07)
    /// LE Read Local P-256 Public Key Complete, 7.7.65.8.
    package static let readLocalP256PublicKeyComplete = LESubevent(rawValue: 0x08)
    /// LE Generate DHKey Complete, 7.7.65.9.
    package static let generateDHKeyComplete = LESubevent(rawValue: 0x09)
    /// LE Enhanced Connection Complete [v1], 7.7.65.10.
    package static let enhancedConnectionComplete = LESubevent(rawValue: 0x0a)
    /// LE Directed Advertising Report, 7.7.65.11.
    package static let directedAdvertisingReport = LESubevent(rawValue: 0x0b)
    /// LE PHY Update Complete, 7.7.65.12.
    package static let phyUpdateComplete = LESubevent(rawValue: 0x0c)
    /// LE Extended Advertising Report, 7.7.65.13.
    package static let extendedAdvertisingReport = LESubevent(rawValue: 0x0d)
    /// LE Periodic Advertising Sync Established [v1], 7.7.65.14.
    package static let periodicAdvertisingSyncEstablished = LESubevent(rawValue: 0x0e)
    /// LE Periodic Advertising Report [v1], 7.7.65.15.
    package static let periodicAdvertisingReport = LESubevent(rawValue: 0x0f)
    /// LE Periodic Advertising Sync Lost, 7.7.65.16.
    package static let periodicAdvertisingSyncLost = LESubevent(rawValue: 0x10)
    /// LE Scan Timeout, 7.7.65.17.
    package static let scanTimeout = LESubevent(rawValue: 0x11)
    /// LE Advertising Set Terminated, 7.7.65.18.
    package static let advertisingSetTerminated = LESubevent(rawValue: 0x12)
    /// LE Scan Request Received, 7.7.65.19.
    package static let scanRequestReceived = LESubevent(rawValue: 0x13)
    /// LE Channel Selection Algorithm, 7.7.65.20.
    package static let channelSelectionAlgorithm = LESubevent(rawValue: 0x14)
    /// LE Connectionless IQ Report, 7.7.65.21.
    package static let connectionlessIQReport = LESubevent(rawValue: 0x15)
    /// LE Connection IQ Report, 7.7.65.22.
    package static let connectionIQReport = LESubevent(rawValue: 0x16)
    /// LE CTE Request Failed, 7.7.65.23.
    package static let cteRequestFailed = LESubevent(rawValue: 0x17)
    /// LE Periodic Advertising Sync Transfer Received [v1], 7.7.65.24.
    package static let periodicAdvertisingSyncTransferReceived = LESubevent(rawValue: 0x18)
    /// LE CIS Established, 7.7.65.25.
    package static let cisEstablished = LESubevent(rawValue: 0x19)
    /// LE CIS Request, 7.7.65.26.
    package static let cisRequest = LESubevent(rawValue: 0x1a)
    /// LE Create BIG Complete, 7.7.65.27.
    package static let createBIGComplete = LESubevent(rawValue: 0x1b)
    /// LE Terminate BIG Complete, 7.7.65.28.
    package static let terminateBIGComplete = LESubevent(rawValue: 0x1c)
    /// LE BIG Sync Established, 7.7.65.29.
    package static let bigSyncEstablished = LESubevent(rawValue: 0x1d)
    /// LE BIG Sync Lost, 7.7.65.30.
    package static let bigSyncLost = LESubevent(rawValue: 0x1e)
    /// LE Request Peer SCA Complete, 7.7.65.31.
    package static let requestPeerSCAComplete = LESubevent(rawValue: 0x1f)
    /// LE Path Loss Threshold, 7.7.65.32.
    package static let pathLossThreshold = LESubevent(rawValue: 0x20)
    /// LE Transmit Power Reporting, 7.7.65.33.
    package static let transmitPowerReporting = LESubevent(rawValue: 0x21)
    /// LE BIGInfo Advertising Report, 7.7.65.34.
    package static let bigInfoAdvertisingReport = LESubevent(rawValue: 0x22)
    /// LE Subrate Change, 7.7.65.35.
    package static let subrateChange = LESubevent(rawValue: 0x23)
    /// LE Periodic Advertising Sync Established [v2], 7.7.65.14.
    package static let periodicAdvertisingSyncEstablishedV2 = LESubevent(rawValue: 0x24)
    /// LE Periodic Advertising Report [v2], 7.7.65.15.
    package static let periodicAdvertisingReportV2 = LESubevent(rawValue: 0x25)
    /// LE Periodic Advertising Sync Transfer Received [v2], 7.7.65.24.
    package static let periodicAdvertisingSyncTransferReceivedV2 = LESubevent(rawValue: 0x26)
    /// LE Periodic Advertising Subevent Data Request, 7.7.65.36.
    package static let periodicAdvertisingSubeventDataRequest = LESubevent(rawValue: 0x27)
    /// LE Periodic Advertising Response Report, 7.7.65.37.
    package static let periodicAdvertisingResponseReport = LESubevent(rawValue: 0x28)
    /// LE Enhanced Connection Complete [v2], 7.7.65.10.
    package static let enhancedConnectionCompleteV2 = LESubevent(rawValue: 0x29)
}

extension LESubevent: CustomStringConvertible {
    /// The name in the specification, "LE Connection Complete", or the code, "0x60".
    package var description: String { Self.names[self] ?? "0x" + rawValue.hex }

    private static let names: [LESubevent: String] = [
        .connectionComplete: "LE Connection Complete",
        .advertisingReport: "LE Advertising Report",
        .connectionUpdateComplete: "LE Connection Update Complete",
        .readRemoteFeaturesComplete: "LE Read Remote Features Complete",
        .longTermKeyRequest: "LE Long Term Key Request",
        .remoteConnectionParameterRequest: "LE Remote Connection Parameter Request",
        .dataLengthChange: "LE Data Length Change",
        .readLocalP256PublicKeyComplete: "LE Read Local P-256 Public Key Complete",
        .generateDHKeyComplete: "LE Generate DHKey Complete",
        .enhancedConnectionComplete: "LE Enhanced Connection Complete [v1]",
        .directedAdvertisingReport: "LE Directed Advertising Report",
        .phyUpdateComplete: "LE PHY Update Complete",
        .extendedAdvertisingReport: "LE Extended Advertising Report",
        .periodicAdvertisingSyncEstablished: "LE Periodic Advertising Sync Established [v1]",
        .periodicAdvertisingReport: "LE Periodic Advertising Report [v1]",
        .periodicAdvertisingSyncLost: "LE Periodic Advertising Sync Lost",
        .scanTimeout: "LE Scan Timeout",
        .advertisingSetTerminated: "LE Advertising Set Terminated",
        .scanRequestReceived: "LE Scan Request Received",
        .channelSelectionAlgorithm: "LE Channel Selection Algorithm",
        .connectionlessIQReport: "LE Connectionless IQ Report",
        .connectionIQReport: "LE Connection IQ Report",
        .cteRequestFailed: "LE CTE Request Failed",
        .periodicAdvertisingSyncTransferReceived: "LE Periodic Advertising Sync Transfer Received [v1]",
        .cisEstablished: "LE CIS Established",
        .cisRequest: "LE CIS Request",
        .createBIGComplete: "LE Create BIG Complete",
        .terminateBIGComplete: "LE Terminate BIG Complete",
        .bigSyncEstablished: "LE BIG Sync Established",
        .bigSyncLost: "LE BIG Sync Lost",
        .requestPeerSCAComplete: "LE Request Peer SCA Complete",
        .pathLossThreshold: "LE Path Loss Threshold",
        .transmitPowerReporting: "LE Transmit Power Reporting",
        .bigInfoAdvertisingReport: "LE BIGInfo Advertising Report",
        .subrateChange: "LE Subrate Change",
        .periodicAdvertisingSyncEstablishedV2: "LE Periodic Advertising Sync Established [v2]",
        .periodicAdvertisingReportV2: "LE Periodic Advertising Report [v2]",
        .periodicAdvertisingSyncTransferReceivedV2: "LE Periodic Advertising Sync Transfer Received [v2]",
        .periodicAdvertisingSubeventDataRequest: "LE Periodic Advertising Subevent Data Request",
        .periodicAdvertisingResponseReport: "LE Periodic Advertising Response Report",
        .enhancedConnectionCompleteV2: "LE Enhanced Connection Complete [v2]",
    ]
}
