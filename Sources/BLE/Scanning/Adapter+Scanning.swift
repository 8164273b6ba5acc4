import BLECore
import HCI
import HCISocket
import Logging

extension Adapter {
    /// Starts a scan whose advertisements go to `buffer`. It ends with the buffer.
    func startScan(_ options: ScanOptions, into buffer: StreamBuffer<Advertisement>) {
        if let end { return buffer.finish(.failure(end)) }
        if options.extended == .on, !capabilities.hasExtendedFamily {
            return buffer.finish(.failure(.adapter(.unsupported("extended scanning"))))
        }
        if options.phys.contains(.coded),
            !capabilities.features.contains(.leCodedPHY) || options.extended == .off
        {
            return buffer.finish(.failure(.adapter(.unsupported("scanning on the Coded PHY"))))
        }
        scanning.nextID += 1
        let id = scanning.nextID
        scanning.consumers[id] = ScanState.Consumer(filter: ScanFilter(options), buffer: buffer)
        buffer.onEnd { [loop, weak self] in
            loop.execute { [weak self] in self?.assumeIsolated { $0.endScan(id) } }
        }
        reconcileScan()
    }

    private func endScan(_ id: UInt64) {
        scanning.consumers[id] = nil
        reconcileScan()
    }

    /// What all consumers together want, or nil when there are none.
    private var wantedScan: ScanParameters? {
        let options = scanning.consumers.values.map(\.filter.options)
        guard let eagerest = options.map(\.preset).max(by: { $0.share < $1.share })?.timing else {
            return nil
        }
        let extended = capabilities.hasExtendedFamily && !options.allSatisfy { $0.extended == .off }
        return ScanParameters(
            isActive: !options.allSatisfy(\.isPassive), interval: eagerest.interval, window: eagerest.window,
            family: extended ? .extended : .legacy,
            coded: extended && options.contains { $0.phys.contains(.coded) },
            oneMegabit: !extended || options.contains { $0.phys.contains(.oneMegabit) })
    }

    /// Brings the radio to what is wanted. One run at a time; what changes meanwhile is seen at its end.
    func reconcileScan() {
        guard !scanning.isChanging, end == nil else { return }
        scanning.isChanging = true
        Task(executorPreference: loop) { await self.changeScan() }
    }

    private func changeScan() async {
        defer {
            scanning.isChanging = false
            changed()
        }
        while end == nil {
            let wanted = wantedScan
            switch (scanning.radio, wanted) {
            case (.off, nil), (.joined, .some): return
            case (.on(let now), let wanted?) where now == wanted: return
            case (.joined, nil): scanning.radio = .off
            case (.on(let now), _):
                await stopScan(now)
                scanning.radio = .off
            case (.off, let wanted?):
                do throws(BLEError) {
                    try await beginScan(wanted)
                    scanning.radio = .on(wanted)
                } catch .hci(.commandDisallowed, _) where kernel != nil {
                    log.info("joining a scan that runs already")
                    scanning.radio = .joined
                } catch {
                    scanning.finishAll(.failure(error))
                }
            }
        }
    }

    private func beginScan(_ wanted: ScanParameters) async throws(BLEError) {
        if scanning.takesOver {
            scanning.takesOver = false
            await stopScan(wanted)
        }
        switch wanted.family {
        case .legacy:
            _ = try await send(
                LESetScanParameters(
                    type: wanted.isActive ? .active : .passive, interval: wanted.interval,
                    window: wanted.window, ownAddressType: ownAddressType))
            _ = try await send(LESetScanEnable(enable: true))
        case .extended:
            let scanning = LESetExtendedScanParameters.Scanning(
                type: wanted.isActive ? .active : .passive, interval: wanted.interval, window: wanted.window)
            _ = try await send(
                LESetExtendedScanParameters(
                    ownAddressType: ownAddressType,
                    phys: PerPHY(
                        le1M: wanted.oneMegabit ? scanning : nil, leCoded: wanted.coded ? scanning : nil)))
            _ = try await send(LESetExtendedScanEnable(enable: true))
        }
    }

    private func stopScan(_ parameters: ScanParameters) async {
        switch parameters.family {
        case .legacy: await sendTolerant(LESetScanEnable(enable: false))
        case .extended: await sendTolerant(LESetExtendedScanEnable(enable: false))
        }
    }

    /// Takes the advertising reports of an event; false when the packet is something else. The reports
    /// before a malformed one are told.
    func hearReports(_ packet: Span<UInt8>) throws(DecodeError) -> Bool {
        guard packet.count > 3, packet[1] == HCIEventCode.leMeta.rawValue else { return false }
        switch LESubevent(rawValue: packet[3]) {
        case .advertisingReport, .extendedAdvertisingReport: break
        default: return false
        }
        guard !scanning.consumers.isEmpty else { return true }
        try AdvertisingReport.forEach(in: packet.extracting(3..<packet.count)) { report in
            for whole in scanning.chains.take(report) { heard(whole) }
        }
        return true
    }

    /// An advertising packet came.
    private func heard(_ report: AdvertisingReport) {
        let advertisement = scanning.devices.merge(report, at: loop.now)
        for id in scanning.consumers.keys {
            if scanning.consumers[id]?.filter.admits(advertisement) == true {
                scanning.consumers[id]?.buffer.yield(advertisement)
            }
        }
    }

    /// A command of somebody else's passed by on a shared adapter. When it switches scanning, what is left of
    /// ours is looked at as soon as they have done: they say off, parameters, on.
    func noteForeign(_ command: Span<UInt8>) {
        guard kernel != nil, scanning.foreign.note(command), !scanning.consumers.isEmpty else { return }
        settleForeign(after: Self.settling)
    }

    private static let settling = Duration.milliseconds(250)
    /// How often a minute the scan is taken back from others.
    private static let restartLimit = 30

    private func settleForeign(after delay: Duration) {
        if settling == nil {
            settling = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.foreignSettled() } }
        }
        settling?.set(loop.now + delay)
    }

    private func foreignSettled() {
        guard end == nil, !scanning.consumers.isEmpty, !scanning.isChanging else { return }
        guard scanning.foreign.verdict == .takeOver else {
            scanning.radio = .joined
            return
        }
        let now = loop.now
        scanning.restarts.removeAll { $0 + .seconds(60) <= now }
        if scanning.restarts.count >= Self.restartLimit, let first = scanning.restarts.first {
            log.warning("others switch the scan too often: waiting until it is taken back once more")
            return settleForeign(after: now.duration(until: first + .seconds(60)))
        }
        scanning.restarts.append(now)
        log.info("another program switched the scan: switching it on again")
        scanning.radio = .off
        scanning.takesOver = true
        reconcileScan()
    }

    /// The type of the address that this host shows.
    var ownAddressType: OwnAddressType { identity.type == .public ? .public : .random }

    /// Waits until scanning and advertising are as they are wanted.
    func radioIdle() async {
        while end == nil, scanning.isChanging || advertising.isChanging {
            do throws(BLEError) {
                try await idle.wait(in: self) { adapter, number in
                    adapter.idle.resume(number, with: .failure(.cancelled))
                } start: { () throws(BLEError) in
                    nextIdle += 1
                    return nextIdle
                }
            } catch {
                return
            }
        }
    }

    /// Tells those who wait for the radio that a change has ended.
    func changed() {
        idle.resumeAll(with: .success(()))
    }
}
