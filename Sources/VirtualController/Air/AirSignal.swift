import BLECore
import HCI

/// A signal between simulated controllers. It represents packets of the link layer (Core Specification 5.4,
/// Vol 6, Part B, 2.3 and 2.4) without their encoding.
package enum AirSignal: Hashable, Sendable {
    /// An advertising event on all its channels: ADV_IND, ADV_DIRECT_IND, ADV_SCAN_IND, ADV_NONCONN_IND, or
    /// ADV_EXT_IND with AUX_ADV_IND and its chain.
    case advertising(Advertising)
    /// A scan request: SCAN_REQ or AUX_SCAN_REQ.
    case scanRequest(ScanRequest)
    /// SCAN_RSP, or AUX_SCAN_RSP with its chain.
    case scanResponse(Advertising)
    /// A connection request: CONNECT_IND or AUX_CONNECT_REQ.
    case connectionRequest(ConnectionRequest)
    /// AUX_SYNC_IND with its chain of AUX_CHAIN_IND.
    case train(TrainPacket)
    /// A signal between the two devices of a connection.
    case link(AirLinkID, LinkSignal)

    package struct ConnectionRequest: Hashable, Sendable {
        /// The identifier of the new connection.
        package var link: AirLinkID
        package var initiator: DeviceAddress
        package var advertiser: DeviceAddress
        /// The advertising set that the request is for.
        package var set: AdvertisingHandle?
        /// The interval, latency and timeout of the connection.
        package var timing: LinkTiming
        /// The data channels that the connection uses.
        package var channels: ChannelMap
        /// The initial PHY in both directions.
        package var phy: PHY
        /// Whether the connection uses channel selection algorithm #2.
        package var usesAlgorithm2: Bool
    }
}

/// The identifier of a connection on the air for both of its devices, in place of an access address.
package struct AirLinkID: Hashable, Sendable {
    package let central: VirtualController.ID
    /// A number that is unique among the central's connections.
    package let serial: UInt64
}

/// The interval, latency and timeout of a connection.
package struct LinkTiming: Hashable, Sendable {
    package var interval: ConnectionInterval
    /// The number of connection events that the peripheral can skip.
    package var latency: UInt16
    /// The time without packets from the peer after which the connection is lost.
    package var supervisionTimeout: Centiseconds
}

/// A signal between the two devices of a connection: data, or a representation of an LL control PDU.
package enum LinkSignal: Hashable, Sendable {
    /// The peripheral's first packet, from which the central knows that the connection is established.
    case established
    /// A fragment of an L2CAP frame.
    case data(isStart: Bool, [UInt8])
    /// An acknowledgment that the peer's host has read the oldest outstanding fragment.
    case acknowledged
    /// LL_TERMINATE_IND with the reason for the end.
    case terminate(HCIStatus)
    /// LL_CONNECTION_UPDATE_IND with the new timing of the link.
    case update(LinkTiming)
    /// A notification that the instant of an update has passed at the peripheral.
    case updated(LinkTiming)
    /// LL_CONNECTION_PARAM_REQ with the parameters that the sender requests.
    case parameterRequest(LEConnectionParameters)
    /// LL_REJECT_EXT_IND or LL_UNKNOWN_RSP in answer to it.
    case parametersRejected(HCIStatus)
    /// LL_CHANNEL_MAP_IND with the new channel map.
    case channels(ChannelMap)
    /// LL_FEATURE_REQ of a central or LL_PERIPHERAL_FEATURE_REQ of a peripheral.
    case featureRequest
    /// LL_FEATURE_RSP with the features of the sender.
    case features(LEFeatures)
    /// LL_VERSION_IND that requests the peer's version.
    case versionRequest
    /// LL_VERSION_IND that answers the peer's request.
    case version(CoreVersion, company: UInt16, subversion: UInt16)
    /// LL_LENGTH_REQ with the sender's limits for sending and receiving.
    case lengthRequest(transmit: DataLength, receive: DataLength)
    /// LL_LENGTH_RSP with the sender's limits for sending and receiving.
    case lengths(transmit: DataLength, receive: DataLength)
    /// LL_PHY_REQ with the PHYs that the sender prefers in each direction.
    case phyRequest(PHYPreference)
    /// LL_PHY_RSP: the preference of a peripheral.
    case phyResponse(PHYPreference)
    /// LL_PHY_UPDATE_IND with the new transmit PHYs of central and peripheral.
    case phys(central: PHY, peripheral: PHY)
    /// LL_UNKNOWN_RSP in answer to LL_PHY_REQ.
    case physUnknown
    /// A signal that starts, pauses or rejects encryption.
    case encryption(EncryptionSignal)
    /// The sender has dropped the connection without notice and permanently. This is not a packet: it informs
    /// the receiver that no packets follow.
    case silence
}

/// A signal that a controller sends, with its receiver.
package struct Transmission: Hashable, Sendable {
    /// The controller that receives the signal; nil for all controllers.
    package var receiver: VirtualController.ID?
    package var signal: AirSignal
    /// The transmit power in dBm.
    package var power: Int8 = 0
    /// The timing of the connection that the signal belongs to; nil if it belongs to none.
    package var timing: LinkTiming?
}

/// A signal that can consist of several packets.
protocol ChainedSignal {
    /// How the data are split into packets; nil for a single packet.
    var chain: AdvertisingChain? { get }
    /// The data of all packets of the chain.
    var data: [UInt8] { get set }
    /// Whether packets of the chain were lost, so that `data` contains only the first part.
    var isTruncated: Bool { get set }
}

extension ChainedSignal {
    /// The number of packets that contain the data.
    var packets: Int { chain?.packets(of: data.count) ?? 1 }

    /// Returns the signal with only the first `count` packets received.
    func cut(to count: Int) -> Self {
        guard let chain, count < packets, count > 0 else { return self }
        var beginning = self
        beginning.data = Array(data.prefix(chain.octets(in: count)))
        beginning.isTruncated = true
        return beginning
    }
}

/// A signal of the encryption procedures of a connection (Core Specification 5.4, Vol 6, Part B, 5.1.3). The
/// key itself is never on air; only a device that has the key can calculate `proof`.
package enum EncryptionSignal: Hashable, Sendable {
    /// LL_ENC_REQ with the identification of the key and the central's half of the session key diversifier.
    case request(random: UInt64, diversifier: UInt16, half: UInt64)
    /// LL_ENC_RSP with the peripheral's half of the session key diversifier.
    case response(half: UInt64)
    /// LL_START_ENC_REQ, which the peripheral sends once its host has provided the key.
    case start
    /// LL_START_ENC_RSP, the first encrypted packet of each device. The proof represents its MIC.
    case started(proof: UInt128)
    /// LL_PAUSE_ENC_REQ, which the central sends before an encrypted link changes its key.
    case pause
    /// LL_PAUSE_ENC_RSP, which the peripheral sends first, and then the central.
    case paused
    /// LL_REJECT_EXT_IND or LL_REJECT_IND in answer to LL_ENC_REQ.
    case rejected(HCIStatus)
}

extension LinkSignal {
    /// Whether the signal can be sent while encryption is being started or paused.
    var passesEncryption: Bool {
        switch self {
        case .encryption, .terminate, .established, .acknowledged, .silence: true
        default: false
        }
    }
}

extension AirSignal {
    /// An advertising event on all its channels, with its auxiliary packets, or the response to a scan
    /// request (Core Specification 5.4, Vol 6, Part B, 2.3.1 and 2.3.2).
    package struct Advertising: Hashable, Sendable {
        /// The properties of the advertising event.
        package var properties: LESetExtendedAdvertisingParameters.Properties
        /// The advertising set; nil for the advertiser of the legacy commands. It represents the timing with
        /// which a response must be sent.
        package var set: AdvertisingHandle?
        /// The address of the advertiser; nil for anonymous advertising.
        package var advertiser: DeviceAddress?
        /// The target address of directed advertising.
        package var target: DeviceAddress?
        /// The advertising set ID (SID); nil in legacy packets.
        package var sid: UInt8?
        /// The advertising data ID (DID), which changes when the data change; zero in legacy packets.
        package var dataID: UInt16
        /// The PHY of the primary channels.
        package var primaryPHY: PHY
        /// The PHY of the packets with the data; `.none` for legacy packets.
        package var secondaryPHY: PHY
        /// The transmit power in dBm, if the packets include it.
        package var txPower: Int8?
        /// Whether this is the response to a scan request.
        package var isResponse: Bool
        /// Whether the advertiser supports channel selection algorithm #2.
        package var knowsAlgorithm2: Bool
        /// The periodic train of the set, if there is one.
        package var train: Train?
        /// The advertising data; the scan response data when `isResponse` is true.
        package var data: [UInt8]
        /// Whether packets of the chain were lost, so that `data` contains only the first part.
        package var isTruncated = false

        /// Whether the event consists of legacy packets, which every controller can receive.
        package var isLegacy: Bool { properties.contains(.legacy) }
    }

    /// A scan request: SCAN_REQ or AUX_SCAN_REQ.
    package struct ScanRequest: Hashable, Sendable {
        package var scanner: DeviceAddress
        package var advertiser: DeviceAddress
        /// The advertising set that the request is for.
        package var set: AdvertisingHandle?
    }
}

extension AirSignal.Advertising: ChainedSignal {
    var chain: AdvertisingChain? { isLegacy ? nil : .advertising }
}

/// The identifier of a periodic train on the air, in place of an access address.
package struct AirTrainID: Hashable, Sendable {
    /// The controller that sends the train.
    package let advertiser: VirtualController.ID
    /// A number that is unique among the advertiser's trains.
    package let serial: UInt64
}

extension AirSignal {
    /// The description of the set's periodic train in an advertising event: SyncInfo (Core Specification 5.4,
    /// Vol 6, Part B, 2.3.4.6).
    package struct Train: Hashable, Sendable {
        package let id: AirTrainID
        /// The periodic advertising interval.
        package let interval: ConnectionInterval
        /// The PHY that the train is sent on.
        package let phy: PHY
    }

    /// AUX_SYNC_IND with its chain of AUX_CHAIN_IND.
    package struct TrainPacket: Hashable, Sendable {
        package var train: AirTrainID
        /// The number of the packet in the train.
        package var event: UInt64
        /// The data ID, which changes when the data change; nil if the packets do not include it (ADI).
        package var dataID: UInt16?
        /// The transmit power in dBm, if the packets include it.
        package var txPower: Int8?
        /// The periodic advertising data of the whole chain.
        package var data: [UInt8]
        /// Whether packets of the chain were lost, so that `data` contains only the first part.
        package var isTruncated = false
    }
}

extension AirSignal.TrainPacket: ChainedSignal {
    var chain: AdvertisingChain? { .periodic }
}
