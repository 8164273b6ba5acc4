import BLECore
import HCI

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
