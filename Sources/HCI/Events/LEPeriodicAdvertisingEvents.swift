import BLECore

/// What a controller found out of a train when it began to follow it.
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

    /// The number of the train from now on.
    package var sync: SyncHandle
    /// The number of the advertising set, 0x00 to 0x0f.
    package var sid: UInt8
    package var advertiser: HCIAddress
    /// On which PHY it is sent.
    package var phy: PHY
    /// The time from packet to packet, 7.5 ms to 81.91875 s.
    package var interval: ConnectionInterval
    /// The advertiser's clock, as in `LEConnectionComplete`.
    package var clockAccuracy: UInt8

    package init(
        sync: SyncHandle, sid: UInt8, advertiser: HCIAddress, phy: PHY, interval: ConnectionInterval,
        clockAccuracy: UInt8 = 0
    ) {
        (self.sync, self.sid, self.advertiser, self.phy) = (sync, sid, advertiser, phy)
        (self.interval, self.clockAccuracy) = (interval, clockAccuracy)
    }
}

/// The controller follows a train, or does not.
package struct LEPeriodicAdvertisingSyncEstablished: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.14.
    package static let definition = event(
        .periodicAdvertisingSyncEstablished, "Status, Sync_Handle", Self.init
    ) {
        ($0.status, $0.train)
    }

    /// How it went: Success, Operation Cancelled by Host, or Synchronization Timeout.
    package var status: HCIStatus
    /// The train; nothing in it counts unless it is followed.
    package var train: PeriodicTrain

    package init(status: HCIStatus = .success, train: PeriodicTrain) {
        (self.status, self.train) = (status, train)
    }
}

/// A packet of a train, or a part of its data.
package struct LEPeriodicAdvertisingReport: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.15.
    package static let definition = event(
        .periodicAdvertisingReport, "Sync_Handle, TX_Power, RSSI, CTE_Type, Data_Status, Data", Self.init
    ) {
        ($0.sync, $0.txPower, $0.rssi, $0.toneExtension, $0.dataStatus, $0.data)
    }

    /// Whether more data follow, or are lost.
    package struct DataStatus: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// These are all, or the last.
        package static let complete = DataStatus(rawValue: 0x00)
        /// More follow in the next report.
        package static let moreToCome = DataStatus(rawValue: 0x01)
        /// The controller could not receive or store the rest.
        package static let truncated = DataStatus(rawValue: 0x02)
    }

    package var sync: SyncHandle
    /// How strong it was sent in dBm, -127 to 20; 127 where it does not say so.
    package var txPower: Int8
    /// How strong it arrived in dBm, -127 to 20; 127 when it is not known.
    package var rssi: Int8
    /// The packet's constant tone extension: 0 AoA, 1 AoD with 1 us slots, 2 AoD with 2 us slots, 0xff none.
    package var toneExtension: UInt8
    /// Whether more data follow, or are lost.
    package var dataStatus: DataStatus
    /// What it says, at most 247 octets a report.
    package var data: [UInt8]

    package init(
        sync: SyncHandle, txPower: Int8 = 127, rssi: Int8, toneExtension: UInt8 = 0xff,
        dataStatus: DataStatus = .complete, data: [UInt8]
    ) {
        (self.sync, self.txPower, self.rssi) = (sync, txPower, rssi)
        (self.toneExtension, self.dataStatus, self.data) = (toneExtension, dataStatus, data)
    }
}

/// A train was silent for longer than its sync timeout; it is followed no longer.
package struct LEPeriodicAdvertisingSyncLost: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.16.
    package static let definition = event(.periodicAdvertisingSyncLost, "Sync_Handle", Self.init) { $0.sync }

    package var sync: SyncHandle

    package init(sync: SyncHandle) { self.sync = sync }
}

/// A connected peer transferred a train, and the controller follows it, or could not.
package struct LEPeriodicAdvertisingSyncTransferReceived: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.24.
    package static let definition = event(
        .periodicAdvertisingSyncTransferReceived,
        "Status, Connection_Handle, Service_Data, Sync_Handle", Self.init
    ) {
        ($0.status, $0.connection, $0.serviceData, $0.train)
    }

    /// How it went: Success or Synchronization Timeout, for one.
    package var status: HCIStatus
    /// The connection to the peer that transferred the train.
    package var connection: ConnectionHandle
    /// The number that the peer's host gave.
    package var serviceData: UInt16
    /// The train; its handle does not count unless it is followed.
    package var train: PeriodicTrain

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, serviceData: UInt16, train: PeriodicTrain
    ) {
        (self.status, self.connection) = (status, connection)
        (self.serviceData, self.train) = (serviceData, train)
    }
}
