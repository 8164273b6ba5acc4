import BLECore
import HCI

/// What simulated controllers send each other. It stands for the packets of the link layer (Core
/// Specification 5.4, Vol 6, Part B, 2.3 and 2.4), without their bits.
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
    /// A signal between the ends of a connection.
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
        /// The PHY both ways in the beginning.
        package var phy: PHY
        /// Whether it hops by channel selection algorithm #2.
        package var usesAlgorithm2: Bool
    }
}

/// Names a connection on the air, for both of its ends: an access address.
package struct AirLinkID: Hashable, Sendable {
    package let central: VirtualController.ID
    /// The central's count of its connections.
    package let serial: UInt64
}

/// The interval, latency and timeout of a connection.
package struct LinkTiming: Hashable, Sendable {
    package var interval: ConnectionInterval
    /// How many connection events the peripheral may skip.
    package var latency: UInt16
    /// How long a peer may be silent.
    package var supervisionTimeout: Centiseconds
}

/// What the ends of a connection send each other: data, and what stands for LL control PDUs.
package enum LinkSignal: Hashable, Sendable {
    /// The peripheral's first packet, by which the central knows that the connection is made.
    case established
    /// A fragment of an L2CAP frame.
    case data(isStart: Bool, [UInt8])
    /// The peer's host has taken the oldest fragment that it had not taken yet.
    case acknowledged
    /// LL_TERMINATE_IND with the reason for the end.
    case terminate(HCIStatus)
    /// LL_CONNECTION_UPDATE_IND with the new timing of the link.
    case update(LinkTiming)
    /// The instant of an update has passed at the peripheral.
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
    /// LL_VERSION_IND that asks for the peer's.
    case versionRequest
    /// LL_VERSION_IND that answers the peer's request.
    case version(CoreVersion, company: UInt16, subversion: UInt16)
    /// LL_LENGTH_REQ with the sender's limits for sending and receiving.
    case lengthRequest(transmit: DataLength, receive: DataLength)
    /// LL_LENGTH_RSP with the sender's limits for sending and receiving.
    case lengths(transmit: DataLength, receive: DataLength)
    /// LL_PHY_REQ: what the sender likes to send and to receive on.
    case phyRequest(PHYPreference)
    /// LL_PHY_RSP: the preference of a peripheral.
    case phyResponse(PHYPreference)
    /// LL_PHY_UPDATE_IND: what central and peripheral send on from now on.
    case phys(central: PHY, peripheral: PHY)
    /// LL_UNKNOWN_RSP in answer to LL_PHY_REQ.
    case physUnknown
    /// What starts, pauses and refuses encryption.
    case encryption(EncryptionSignal)
    /// The sender's end of the connection is gone without notice, and will not come back. This is no packet: it
    /// informs the receiver that none will come.
    case silence
}

/// Where a controller sends a signal.
package struct Transmission: Hashable, Sendable {
    /// The controller that is meant; nil for all.
    package var receiver: VirtualController.ID?
    package var signal: AirSignal
    /// How strong it is sent, in dBm.
    package var power: Int8 = 0
    /// The timing of the connection that the signal belongs to; nil if it belongs to none.
    package var timing: LinkTiming?
}

/// A signal that may be of several packets.
protocol ChainedSignal {
    /// How its data are split; nil for a single packet.
    var chain: AdvertisingChain? { get }
    /// The data of all packets of the chain.
    var data: [UInt8] { get set }
    /// Whether packets of the chain were lost, so that `data` are only a beginning.
    var isCut: Bool { get set }
}

extension ChainedSignal {
    /// How many packets the data are in.
    var packets: Int { chain?.packets(of: data.count) ?? 1 }

    /// The same with all packets lost but the first `count`.
    func cut(to count: Int) -> Self {
        guard let chain, count < packets, count > 0 else { return self }
        var beginning = self
        beginning.data = Array(data.prefix(chain.octets(in: count)))
        beginning.isCut = true
        return beginning
    }
}

/// What the ends of a connection send each other to encrypt it (Core Specification 5.4, Vol 6, Part B, 5.1.3).
/// The key itself never is on air; `proof` is what only its owner can make.
package enum EncryptionSignal: Hashable, Sendable {
    /// LL_ENC_REQ: what names the key, and the central's half of the session key diversifier.
    case request(random: UInt64, diversifier: UInt16, half: UInt64)
    /// LL_ENC_RSP: the peripheral's half of the session key diversifier.
    case response(half: UInt64)
    /// LL_START_ENC_REQ, sent by the peripheral once its host has given the key.
    case start
    /// LL_START_ENC_RSP, the first packet of each end that is encrypted. The proof stands for its MIC.
    case started(proof: UInt128)
    /// LL_PAUSE_ENC_REQ, sent by the central before an encrypted link gets a new key.
    case pause
    /// LL_PAUSE_ENC_RSP, sent by the peripheral and then by the central.
    case paused
    /// LL_REJECT_EXT_IND or LL_REJECT_IND in answer to LL_ENC_REQ.
    case rejected(HCIStatus)
}

extension LinkSignal {
    /// Whether it may be sent while encryption is started or paused.
    var passesEncryption: Bool {
        switch self {
        case .encryption, .terminate, .established, .acknowledged, .silence: true
        default: false
        }
    }
}

extension AirSignal {
    /// An advertising event on all its channels with all that belongs to it, or the answer to a scan request
    /// (Core Specification 5.4, Vol 6, Part B, 2.3.1 and 2.3.2).
    package struct Advertising: Hashable, Sendable {
        /// What kind of advertising it is.
        package var properties: LESetExtendedAdvertisingParameters.Properties
        /// Which of the advertiser's sets; nil for the one of its legacy commands. It stands for the moment at
        /// which an answer must be sent.
        package var set: AdvertisingHandle?
        /// Who advertises; nil for anonymous advertising.
        package var advertiser: DeviceAddress?
        /// The target address of directed advertising.
        package var target: DeviceAddress?
        /// The number of the set that scanners learn; nil in legacy packets.
        package var sid: UInt8?
        /// Differs when the data differ; zero in legacy packets.
        package var dataID: UInt16
        /// The PHY of the primary channels.
        package var primaryPHY: PHY
        /// Where the data are; none for legacy packets.
        package var secondaryPHY: PHY
        /// How strong it is sent, where it says so.
        package var txPower: Int8?
        /// Whether it answers a scan request.
        package var isResponse: Bool
        /// Whether the advertiser knows channel selection algorithm #2.
        package var knowsAlgorithm2: Bool
        /// The periodic train of the set, if there is one.
        package var train: Train?
        /// The advertising data; the scan response data when `isResponse` is true.
        package var data: [UInt8]
        /// Whether packets of the chain were lost, so that `data` are only a beginning.
        package var isCut = false

        /// Whether it is of packets that every controller knows.
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

/// Names a periodic train on the air: an access address.
package struct AirTrainID: Hashable, Sendable {
    /// The controller that sends it.
    package let advertiser: VirtualController.ID
    /// The advertiser's count of its trains.
    package let serial: UInt64
}

extension AirSignal {
    /// What an advertising event says of the set's periodic train: SyncInfo (Core Specification 5.4, Vol 6,
    /// Part B, 2.3.4.6).
    package struct Train: Hashable, Sendable {
        package let id: AirTrainID
        /// The time from packet to packet.
        package let interval: ConnectionInterval
        /// The PHY that the train is sent on.
        package let phy: PHY
    }

    /// AUX_SYNC_IND with its chain of AUX_CHAIN_IND.
    package struct TrainPacket: Hashable, Sendable {
        package var train: AirTrainID
        /// Counts the packets of the train.
        package var event: UInt64
        /// Differs when the data differ; nil when the packets do not say (ADI).
        package var dataID: UInt16?
        /// How strong it is sent, where it says so.
        package var txPower: Int8?
        /// The periodic advertising data of the whole chain.
        package var data: [UInt8]
        /// Whether packets of the chain were lost, so that `data` are only a beginning.
        package var isCut = false
    }
}

extension AirSignal.TrainPacket: ChainedSignal {
    var chain: AdvertisingChain? { .periodic }
}
