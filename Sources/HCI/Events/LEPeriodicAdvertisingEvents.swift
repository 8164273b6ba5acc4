import BLECore

/// The properties of a periodic train with which a controller has synchronized.
package struct PeriodicTrain: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout(
        """
        Sync_Handle, Advertising_SID, Advertiser_Address, Advertiser_PHY, Periodic_Advertising_Interval, \
        Advertiser_Clock_Accuracy
        """, Self.init
    ) {
        ($0.sync, $0.sid, $0.advertiser, $0.phy, $0.interval, $0.clockAccuracy)
    }
    package static let packetName = "periodic train"

    /// The number that identifies the train from now on.
    package var sync: SyncHandle
    /// The advertising set identifier (SID), 0x00 to 0x0f.
    package var sid: UInt8
    package var advertiser: HCIAddress
    /// The PHY on which the train is sent.
    package var phy: PHY
    /// The time between packets, 7.5 ms to 81.91875 s.
    package var interval: ConnectionInterval
    /// The advertiser's clock accuracy, encoded as in `LEConnectionComplete`.
    package var clockAccuracy: UInt8

    package init(
        sync: SyncHandle, sid: UInt8, advertiser: HCIAddress, phy: PHY, interval: ConnectionInterval,
        clockAccuracy: UInt8 = 0
    ) {
        (self.sync, self.sid, self.advertiser, self.phy) = (sync, sid, advertiser, phy)
        (self.interval, self.clockAccuracy) = (interval, clockAccuracy)
    }
}

/// The synchronization with a periodic train was established, or failed.
package struct LEPeriodicAdvertisingSyncEstablished: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.14.
    package static let definition = event(
        .periodicAdvertisingSyncEstablished, "Status, Sync_Handle", Self.init
    ) {
        ($0.status, $0.train)
    }

    /// The result: Success, Operation Cancelled by Host, or Synchronization Timeout.
    package var status: HCIStatus
    /// The train; valid only after success.
    package var train: PeriodicTrain

    package init(status: HCIStatus = .success, train: PeriodicTrain) {
        (self.status, self.train) = (status, train)
    }
}

/// A packet of a periodic train, or a part of its data.
package struct LEPeriodicAdvertisingReport: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.15.
    package static let definition = event(
        .periodicAdvertisingReport, "Sync_Handle, TX_Power, RSSI, CTE_Type, Data_Status, Data", Self.init
    ) {
        ($0.sync, $0.txPower, $0.rssi, $0.toneExtension, $0.dataStatus, $0.data)
    }

    /// Whether more data follows, or the rest was lost.
    package struct DataStatus: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The data is complete, or this is its last part.
        package static let complete = DataStatus(rawValue: 0x00)
        /// More data follows in the next report.
        package static let moreToCome = DataStatus(rawValue: 0x01)
        /// The controller could not receive or store the rest.
        package static let truncated = DataStatus(rawValue: 0x02)
    }

    package var sync: SyncHandle
    /// The transmit power in dBm, -127 to 20; 127 if the packet does not contain it.
    package var txPower: Int8
    /// The signal strength at the receiver in dBm, -127 to 20; 127 if it is not available.
    package var rssi: Int8
    /// The packet's constant tone extension: 0 AoA, 1 AoD with 1 us slots, 2 AoD with 2 us slots, 0xff none.
    package var toneExtension: UInt8
    /// Whether more data follows, or the rest was lost.
    package var dataStatus: DataStatus
    /// The data, at most 247 octets per report.
    package var data: [UInt8]

    package init(
        sync: SyncHandle, txPower: Int8 = 127, rssi: Int8, toneExtension: UInt8 = 0xff,
        dataStatus: DataStatus = .complete, data: [UInt8]
    ) {
        (self.sync, self.txPower, self.rssi) = (sync, txPower, rssi)
        (self.toneExtension, self.dataStatus, self.data) = (toneExtension, dataStatus, data)
    }
}

/// The synchronization with a train was lost, because no packet was received for longer than its sync
/// timeout.
package struct LEPeriodicAdvertisingSyncLost: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.16.
    package static let definition = event(.periodicAdvertisingSyncLost, "Sync_Handle", Self.init) { $0.sync }

    package var sync: SyncHandle

    package init(sync: SyncHandle) { self.sync = sync }
}

/// A connected peer transferred a train, with which the controller has synchronized or failed to.
package struct LEPeriodicAdvertisingSyncTransferReceived: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.24.
    package static let definition = event(
        .periodicAdvertisingSyncTransferReceived,
        "Status, Connection_Handle, Service_Data, Sync_Handle", Self.init
    ) {
        ($0.status, $0.connection, $0.serviceData, $0.train)
    }

    /// The result: for example Success or Synchronization Timeout.
    package var status: HCIStatus
    /// The connection to the peer that transferred the train.
    package var connection: ConnectionHandle
    /// The number that the peer's host provided.
    package var serviceData: UInt16
    /// The train; its handle is valid only after success.
    package var train: PeriodicTrain

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, serviceData: UInt16, train: PeriodicTrain
    ) {
        (self.status, self.connection) = (status, connection)
        (self.serviceData, self.train) = (serviceData, train)
    }
}
