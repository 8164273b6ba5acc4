import BLECore

/// The result of a request for credit-based channels, for codes 0x15, 0x18 and 0x1a (Core Specification 5.4,
/// Vol 3, Part A, 4.23, 4.26). Reconfiguration has its own results, see `ReconfigureResult`.
package struct CreditBasedResult: HCICode {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The request was accepted as it was.
    package static let success = CreditBasedResult(rawValue: 0x0000)
    /// No service has this SPSM.
    package static let spsmNotSupported = CreditBasedResult(rawValue: 0x0002)
    package static let noResources = CreditBasedResult(rawValue: 0x0004)
    /// The authentication of the link is not sufficient.
    package static let insufficientAuthentication = CreditBasedResult(rawValue: 0x0005)
    /// The channel requires authorization.
    package static let insufficientAuthorization = CreditBasedResult(rawValue: 0x0006)
    /// The encryption key is too short.
    package static let encryptionKeyTooShort = CreditBasedResult(rawValue: 0x0007)
    /// The link is not encrypted.
    package static let insufficientEncryption = CreditBasedResult(rawValue: 0x0008)
    /// A source channel identifier is invalid.
    package static let invalidSource = CreditBasedResult(rawValue: 0x0009)
    /// A source channel identifier is already in use.
    package static let sourceTaken = CreditBasedResult(rawValue: 0x000a)
    /// MTU, MPS or credits are out of range.
    package static let unacceptableParameters = CreditBasedResult(rawValue: 0x000b)
}

/// The result of a reconfiguration (4.28).
package struct ReconfigureResult: HCICode {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The channels have the new sizes.
    package static let success = ReconfigureResult(rawValue: 0x0000)
    /// The new MTU is smaller than the old one.
    package static let mtuReduced = ReconfigureResult(rawValue: 0x0001)
    /// The MPS of several channels would shrink.
    package static let mpsReduced = ReconfigureResult(rawValue: 0x0002)
    /// A channel identifier is not in use.
    package static let invalidDestination = ReconfigureResult(rawValue: 0x0003)
    /// Another parameter is out of range.
    package static let unacceptableParameters = ReconfigureResult(rawValue: 0x0004)
}

/// Requests a connection-oriented channel with LE credit-based flow control.
package struct LECreditBasedConnectionRequest: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.22.
    package static let definition = message(
        .leCreditBasedConnectionRequest, "SPSM, Source CID, MTU, MPS, Initial Credits", Self.init
    ) {
        ($0.spsm, $0.source, $0.mtu, $0.mps, $0.credits)
    }

    /// The number of the requested service.
    package var spsm: UInt16
    /// The requesting side's identifier of the channel.
    package var source: L2CAPChannelID
    /// The maximum service data unit that the requesting side accepts, in octets, at least 23.
    package var mtu: UInt16
    /// The maximum frame payload that the requesting side accepts, in octets, 23 to 65,533.
    package var mps: UInt16
    /// The initial number of credits: frames that the other side can send at first.
    package var credits: UInt16

    package init(
        spsm: UInt16, source: L2CAPChannelID, mtu: UInt16, mps: UInt16, credits: UInt16
    ) {
        (self.spsm, self.source, self.mtu, self.mps, self.credits) = (spsm, source, mtu, mps, credits)
    }
}

/// Accepts or rejects a channel that LE Credit Based Connection Request requested (4.23).
package struct LECreditBasedConnectionResponse: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.23.
    package static let definition = message(
        .leCreditBasedConnectionResponse, "Destination CID, MTU, MPS, Initial Credits, Result", Self.init
    ) {
        ($0.destination, $0.mtu, $0.mps, $0.credits, $0.result)
    }

    /// The responding side's identifier of the channel; 0 if the channel is rejected.
    package var destination: L2CAPChannelID
    /// The maximum service data unit that the responding side accepts, in octets.
    package var mtu: UInt16
    /// The maximum frame payload that the responding side accepts, in octets.
    package var mps: UInt16
    /// The initial number of credits: frames that the other side can send at first.
    package var credits: UInt16
    package var result: CreditBasedResult

    package init(
        destination: L2CAPChannelID = .null, mtu: UInt16 = 0, mps: UInt16 = 0, credits: UInt16 = 0,
        result: CreditBasedResult
    ) {
        (self.destination, self.mtu) = (destination, mtu)
        (self.mps, self.credits, self.result) = (mps, credits, result)
    }
}

/// Grants the peer credits for more frames on a credit-based channel.
package struct FlowControlCredit: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.24.
    package static let definition = message(.flowControlCredit, "CID, Credits", Self.init) {
        ($0.channel, $0.credits)
    }

    /// The sender's identifier of the channel.
    package var channel: L2CAPChannelID
    /// The number of additional frames that the peer can send.
    package var credits: UInt16

    package init(
        channel: L2CAPChannelID, credits: UInt16
    ) {
        (self.channel, self.credits) = (channel, credits)
    }
}

/// Requests one to five channels with enhanced credit-based flow control.
package struct CreditBasedConnectionRequest: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.25.
    package static let definition = message(
        .creditBasedConnectionRequest, "SPSM, MTU, MPS, Initial Credits, Source CID", Self.init
    ) {
        ($0.spsm, $0.mtu, $0.mps, $0.credits, ChannelList($0.sources))
    }

    /// The number of the requested service.
    package var spsm: UInt16
    /// The maximum service data unit that the requesting side accepts, in octets, at least 64.
    package var mtu: UInt16
    /// The maximum frame payload that the requesting side accepts, in octets, 64 to 65,533.
    package var mps: UInt16
    /// The initial number of credits: frames that the other side can send at first on each channel.
    package var credits: UInt16
    /// The channel identifiers that the sender has allocated.
    package var sources: [L2CAPChannelID]

    package init(
        spsm: UInt16, mtu: UInt16, mps: UInt16, credits: UInt16, sources: [L2CAPChannelID]
    ) {
        (self.spsm, self.mtu, self.mps, self.credits, self.sources) = (spsm, mtu, mps, credits, sources)
    }

    private init(spsm: UInt16, mtu: UInt16, mps: UInt16, credits: UInt16, sources: ChannelList) {
        self.init(spsm: spsm, mtu: mtu, mps: mps, credits: credits, sources: sources.channels)
    }
}

/// The response to `CreditBasedConnectionRequest`.
package struct CreditBasedConnectionResponse: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.26.
    package static let definition = message(
        .creditBasedConnectionResponse, "MTU, MPS, Initial Credits, Result, Destination CID", Self.init
    ) {
        ($0.mtu, $0.mps, $0.credits, $0.result, ChannelList($0.destinations))
    }

    /// The maximum service data unit that the responding side accepts, in octets.
    package var mtu: UInt16
    /// The maximum frame payload that the responding side accepts, in octets.
    package var mps: UInt16
    /// The initial number of credits: frames that the other side can send at first on each channel.
    package var credits: UInt16
    package var result: CreditBasedResult
    /// The responding side's identifiers, in the order of the request; 0 for a rejected channel.
    package var destinations: [L2CAPChannelID]

    package init(
        mtu: UInt16 = 0, mps: UInt16 = 0, credits: UInt16 = 0, result: CreditBasedResult,
        destinations: [L2CAPChannelID]
    ) {
        (self.mtu, self.mps) = (mtu, mps)
        (self.credits, self.result, self.destinations) = (credits, result, destinations)
    }

    private init(
        mtu: UInt16, mps: UInt16, credits: UInt16, result: CreditBasedResult, destinations: ChannelList
    ) {
        self.init(mtu: mtu, mps: mps, credits: credits, result: result, destinations: destinations.channels)
    }
}

/// Requests new sizes for channels with enhanced credit-based flow control.
package struct CreditBasedReconfigureRequest: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.27.
    package static let definition = message(
        .creditBasedReconfigureRequest, "MTU, MPS, Destination CID", Self.init
    ) {
        ($0.mtu, $0.mps, ChannelList($0.destinations))
    }

    /// The maximum service data unit that the requesting side accepts, in octets.
    package var mtu: UInt16
    /// The maximum frame payload that the requesting side accepts, in octets.
    package var mps: UInt16
    /// The responding side's identifiers of the channels.
    package var destinations: [L2CAPChannelID]

    package init(
        mtu: UInt16, mps: UInt16, destinations: [L2CAPChannelID]
    ) {
        (self.mtu, self.mps, self.destinations) = (mtu, mps, destinations)
    }

    private init(mtu: UInt16, mps: UInt16, destinations: ChannelList) {
        self.init(mtu: mtu, mps: mps, destinations: destinations.channels)
    }
}

/// The response to `CreditBasedReconfigureRequest`.
package struct CreditBasedReconfigureResponse: LESignalingMessage {
    /// Core Specification 5.4, Vol 3, Part A, 4.28.
    package static let definition = message(.creditBasedReconfigureResponse, "Result", Self.init) {
        $0.result
    }

    /// Whether the channels have the new sizes.
    package var result: ReconfigureResult

    package init(result: ReconfigureResult) { self.result = result }
}

/// The channel identifiers up to the end of a message, one to five of them.
private struct ChannelList: HCIField {
    var channels: [L2CAPChannelID]

    init(_ channels: [L2CAPChannelID]) { self.channels = channels }

    init(reading reader: inout ByteReader) throws(DecodeError) {
        guard (1...5).contains(reader.remaining / 2) else {
            throw reader.failure("", .malformed("1 to 5 channels, not \(reader.remaining) octets"))
        }
        channels = []
        while reader.remaining >= 2 { channels.append(try L2CAPChannelID(reading: &reader)) }
    }

    var fieldWidth: Int { 2 * channels.count }

    func write(into output: inout OutputSpan<UInt8>) {
        for channel in channels { channel.write(into: &output) }
    }
}
