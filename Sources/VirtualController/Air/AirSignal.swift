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
    /// The sender's end of the connection is gone without a word, and will not come back. It is no packet:
    /// it informs the receiver that none will come.
    case silence
}

/// Where a controller sends a signal.
package struct Transmission: Hashable, Sendable {
    /// The controller that is meant; nil for all.
    package var receiver: VirtualController.ID?
    package var signal: AirSignal
    /// How strong it is sent, in dBm.
    package var power: Int8 = 0
    /// How the connection keeps time that it belongs to, if it does to one.
    package var timing: LinkTiming?
}
