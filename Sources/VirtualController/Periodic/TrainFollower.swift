import BLECore
import HCI

/// A periodic train to which a controller is synchronized or synchronizing (Core Specification 5.4, Vol 6,
/// Part B, 4.4.3.4).
struct TrainFollower: Sendable {
    let handle: SyncHandle
    let train: AirSignal.Train
    let advertiser: AirPeer
    let sid: UInt8
    /// The number of packets to skip after each received packet.
    let skip: UInt64
    let timeout: Duration
    /// The reports that the host has enabled.
    var reports: LESetPeriodicAdvertisingReceiveEnable.Enable
    /// Whether a packet was received and the host was notified.
    var isEstablished = false
    var lastReceived: Instant
    var lastEvent: UInt64 = 0
    /// The ID of the data that were reported last, if they have one.
    var lastData: UInt16?

    init(
        _ handle: SyncHandle, _ train: AirSignal.Train, of advertiser: AirPeer, sid: UInt8,
        _ request: SyncRequest, at now: Instant
    ) {
        (self.handle, self.train, self.advertiser, self.sid) = (handle, train, advertiser, sid)
        timeout = request.timeout
        // The skip is limited so that the train is not lost by skipping alone.
        let room = request.timeout.nanoseconds / max(train.interval.duration.nanoseconds, 1) - 1
        skip = UInt64(min(Int64(request.skip), max(room, 1) - 1))
        reports = request.reports
        lastReceived = now
    }

    /// The time at which synchronization ends: after six intervals without a first packet, later after the
    /// timeout.
    var deadline: Instant {
        lastReceived + (isEstablished ? timeout : train.interval.duration * 6)
    }
}

/// The request of a host to synchronize to a train.
struct SyncRequest: Sendable {
    /// The advertiser (its set is `sid`); nil for any set on the periodic advertiser list.
    let advertiser: DeviceAddress?
    let sid: UInt8
    let skip: UInt16
    let timeout: Duration
    let reports: LESetPeriodicAdvertisingReceiveEnable.Enable
    /// Whether trains without a constant tone extension are excluded, which are the only trains in this
    /// simulation.
    let excludesPlain: Bool
}

/// An advertising set on the periodic advertiser list.
struct ListedAdvertiser: Hashable, Sendable {
    let address: DeviceAddress
    let sid: UInt8
}

extension VirtualController {
    /// Begins to follow the train of an advertiser, if the host has requested it and the scanner receives it.
    mutating func synchronize(
        with advertising: AirSignal.Advertising, of advertiser: AirPeer?, at now: Instant
    ) {
        guard let request = settings.syncRequest, !settings.followers.contains(where: { !$0.isEstablished }),
            let train = advertising.train, let advertiser, let sid = advertising.sid, has(train.phy),
            settings.scanner.listens(on: advertising.primaryPHY, at: now),
            follower(of: advertiser.address, sid) == nil
        else { return }
        if let wanted = request.advertiser {
            guard wanted == advertiser.address, request.sid == sid else { return }
        } else {
            let listed = ListedAdvertiser(address: advertiser.address, sid: sid)
            guard settings.periodicList.contains(listed) else { return }
        }
        settings.followers.append(
            TrainFollower(freeSyncHandle(), train, of: advertiser, sid: sid, request, at: now))
    }

    /// Returns the index of the follower of a set's train.
    func follower(of advertiser: DeviceAddress, _ sid: UInt8) -> Int? {
        settings.followers.firstIndex { $0.advertiser.address == advertiser && $0.sid == sid }
    }

    /// Processes a packet of a train.
    mutating func receive(_ packet: AirSignal.TrainPacket, rssi: Int8, at now: Instant) {
        guard let index = settings.followers.firstIndex(where: { $0.train.id == packet.train }) else {
            return
        }
        let follower = settings.followers[index]
        if follower.isEstablished {
            guard packet.event > follower.lastEvent + follower.skip else { return }
        } else if let request = settings.syncRequest, request.excludesPlain {
            // The train is unsuitable. A request for this train fails; a request for the list continues with
            // other trains.
            settings.followers.remove(at: index)
            guard request.advertiser != nil else { return }
            settings.syncRequest = nil
            return reportSync(.unsupportedRemoteFeature, follower)
        } else {
            settings.syncRequest = nil
            settings.followers[index].isEstablished = true
            reportSync(.success, follower)
        }
        settings.followers[index].lastReceived = now
        settings.followers[index].lastEvent = packet.event
        report(packet, rssi: rssi, of: index)
    }

    /// Ends synchronization to trains whose deadline has passed.
    mutating func endSyncs(at now: Instant) {
        while let index = settings.followers.firstIndex(where: { $0.deadline <= now }) {
            let follower = settings.followers.remove(at: index)
            if follower.isEstablished {
                emit(LEPeriodicAdvertisingSyncLost(sync: follower.handle))
            } else {
                settings.syncRequest = nil
                reportSync(.connectionFailedToBeEstablished, follower)
            }
        }
    }

    /// Reports the result of a synchronization; without `follower`, that no train was found.
    mutating func reportSync(_ status: HCIStatus, _ follower: TrainFollower? = nil) {
        emit(
            LEPeriodicAdvertisingSyncEstablished(
                status: status,
                train: PeriodicTrain(
                    sync: follower?.handle ?? SyncHandle(rawValue: 0), sid: follower?.sid ?? 0,
                    advertiser: follower?.advertiser.reported ?? HCIAddress(0, type: .public),
                    phy: follower?.train.phy ?? .none,
                    interval: follower?.train.interval ?? ConnectionInterval(rawValue: 0))))
    }

    /// Reports a packet to the host, if reports are enabled, and as far as there is room for reports.
    private mutating func report(_ packet: AirSignal.TrainPacket, rssi: Int8, of index: Int) {
        let follower = settings.followers[index]
        guard follower.reports.contains(.reports), reports(.periodicAdvertisingReport) else { return }
        if follower.reports.contains(.filterDuplicates), let data = packet.dataID, !packet.isTruncated {
            guard follower.lastData != data else { return }
            settings.followers[index].lastData = data
        }
        let reports = packet.reports(of: follower.handle, rssi: rssi)
        let room = roomForReports
        dropReports(reports.count - room)
        for (place, report) in reports.prefix(room).enumerated() {
            var report = report
            // There is no room for the rest of the data.
            if place == room - 1, reports.count > room { report.dataStatus = .truncated }
            queue(report.packet)
        }
    }
}

extension AirSignal.TrainPacket {
    /// Returns the reports that together contain all the data (Core Specification 5.4, Vol 4, Part E,
    /// 7.7.65.15).
    fileprivate func reports(of sync: SyncHandle, rssi: Int8) -> [LEPeriodicAdvertisingReport] {
        let capacity = 247
        return stride(from: 0, to: max(data.count, 1), by: capacity).map { start in
            let end = min(start + capacity, data.count)
            let status: LEPeriodicAdvertisingReport.DataStatus =
                end < data.count ? .moreToCome : isTruncated ? .truncated : .complete
            return LEPeriodicAdvertisingReport(
                sync: sync, txPower: txPower ?? 127, rssi: rssi, dataStatus: status,
                data: Array(data[start..<end]))
        }
    }
}
