import BLECore
import HCI

/// Names a periodic train on the air: an access address.
public struct AirTrainID: Hashable, Sendable {
    /// The controller that sends it.
    public let advertiser: VirtualController.ID
    /// The advertiser's count of its trains.
    public let serial: UInt64
}

extension AirSignal {
    /// What an advertising event says of the set's periodic train: SyncInfo (Core Specification 5.4, Vol 6,
    /// Part B, 2.3.4.6).
    public struct Train: Hashable, Sendable {
        /// Which train.
        public let id: AirTrainID
        /// The time from packet to packet.
        public let interval: ConnectionInterval
        /// Where it is sent.
        public let phy: PHY
    }

    /// AUX_SYNC_IND with its chain.
    public struct TrainPacket: Hashable, Sendable {
        /// Of which train.
        public var train: AirTrainID
        /// Counts the packets of the train.
        public var event: UInt64
        /// Differs when the data differ; nil when the packets do not say (ADI).
        public var dataID: UInt16?
        /// How strong it is sent, where it says so.
        public var txPower: Int8?
        /// What it says.
        public var data: [UInt8]
        /// Whether packets of the chain were lost, so that `data` are only a beginning.
        public var isCut = false
    }
}

extension AirSignal.TrainPacket: ChainedSignal {
    var chain: AdvertisingChain? { .periodic }
}
