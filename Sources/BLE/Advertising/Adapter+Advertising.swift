import BLECore
import HCI
import Logging

/// The set that this host uses of a controller with several: the kernel numbers its own from 1 upwards.
let advertisingSet = AdvertisingHandle(rawValue: 0xef)

extension Adapter {
    /// Advertises until `stopAdvertising`, as long as fewer than `maximumLinks` centrals are connected.
    /// Returns its number when the first packets are on air.
    func startAdvertising(_ request: AdvertisingRequest, maximumLinks: Int) async throws(BLEError) -> UInt64 {
        var id: UInt64 = 0
        try await advertising.started.wait(in: self) { adapter, id in
            adapter.giveUpAdvertising(id, .cancelled)
        } start: { () throws(BLEError) in
            id = try wantAdvertising(request, maximumLinks)
            return id
        }
        return id
    }

    private func wantAdvertising(_ request: AdvertisingRequest, _ maximumLinks: Int) throws(BLEError)
        -> UInt64
    {
        if let end { throw end }
        guard advertising.wanted == nil else {
            throw .adapter(.inUse("another advertisement of this process"))
        }
        if request.plan.extended != nil, !capabilities.hasExtendedFamily {
            throw .adapter(.unsupported("extended advertising"))
        }
        _ = try request.checkedInterval()
        advertising.nextID += 1
        let id = advertising.nextID
        advertising.family = capabilities.hasExtendedFamily ? .extended : .legacy
        advertising.wanted = AdvertisingState.Active(request: request, maximumLinks: maximumLinks, id: id)
        reconcileAdvertising()
        return id
    }

    /// Waits until the adapter ends the advertisement by itself.
    func advertisingEnded(_ id: UInt64) async throws(BLEError) {
        try await advertising.ended.wait(in: self) { adapter, id in
            adapter.advertising.ended.resume(id, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            guard advertising.wanted?.id == id else { throw end ?? .adapter(.closed) }
            return id
        }
    }

    /// Takes the advertisement off the air.
    func stopAdvertising(_ id: UInt64) async {
        await uncancelled { await $0.takeOffAir(id) }
    }

    private func takeOffAir(_ id: UInt64) async {
        guard advertising.wanted?.id == id else { return }
        advertising.wanted = nil
        reconcileAdvertising()
        await radioIdle()
        // Once more, whatever we believe: a connection that came meanwhile may have hidden what is on air.
        if end == nil { await disableAdvertising() }
    }

    private func giveUpAdvertising(_ id: UInt64, _ error: BLEError) {
        if advertising.wanted?.id == id { advertising.wanted = nil }
        advertising.started.resume(id, with: .failure(error))
        reconcileAdvertising()
    }

    /// The advertisement that should be on air now: none while all links are taken.
    private var dueAdvertisement: AdvertisingState.Active? {
        guard let wanted = advertising.wanted else { return nil }
        guard wanted.request.kind == .connectable else { return wanted }
        let taken = links.values.count { $0.role == .peripheral }
        return taken < wanted.maximumLinks ? wanted : nil
    }

    /// Brings the radio to what is wanted. One run at a time; what changes meanwhile is seen at its end.
    func reconcileAdvertising() {
        guard !advertising.isChanging, end == nil, advertising.onAir != dueAdvertisement?.id else { return }
        advertising.isChanging = true
        Task(executorPreference: loop) { await self.changeAdvertising() }
    }

    private func changeAdvertising() async {
        defer {
            advertising.isChanging = false
            changed()
        }
        while end == nil {
            let due = dueAdvertisement
            switch (advertising.onAir, due) {
            case (nil, nil): return
            case (let now?, let due?) where now == due.id: return
            case (_?, _):
                await disableAdvertising()
                advertising.onAir = nil
            case (nil, let due?):
                guard await begin(due) else { return }
            }
        }
    }

    /// Puts an advertisement on air. False when the controller does not want it now.
    private func begin(_ due: AdvertisingState.Active) async -> Bool {
        do throws(BLEError) {
            try await enableAdvertising(due.request)
            advertising.onAir = due.id
            advertising.started.resume(due.id, with: .success(()))
            return true
        } catch .hci(.commandDisallowed, let command)
            where advertising.family == .extended && command == .leSetExtendedAdvertisingParameters
        {
            // Somebody used the legacy family before us, which only a reset makes the controller forget.
            guard due.request.plan.extended == nil else {
                giveUpAdvertising(due.id, .hci(.commandDisallowed, command: command))
                return false
            }
            advertising.family = .legacy
            return true
        } catch {
            if links.isEmpty {
                log.error("cannot advertise: \(error)")
                giveUpAdvertising(due.id, error)
            } else {
                // Some controllers cannot advertise beside a link; the next free link tries again.
                log.info("not advertising beside \(links.count) links: \(error)")
                advertising.started.resume(due.id, with: .success(()))
            }
            return false
        }
    }

    private func enableAdvertising(_ request: AdvertisingRequest) async throws(BLEError) {
        switch advertising.family {
        case .legacy: try await enableLegacy(request)
        case .extended: try await enableExtended(request)
        }
    }

    private func enableLegacy(_ request: AdvertisingRequest) async throws(BLEError) {
        let interval = Slots(try request.checkedInterval())
        await sendTolerant(LESetAdvertisingEnable(enable: false))
        _ = try await send(
            LESetAdvertisingParameters(
                intervalMin: interval, intervalMax: interval, type: request.kind.legacyType,
                ownAddressType: ownAddressType))
        _ = try await send(LESetAdvertisingData(data: try .checked(request.plan.data)))
        if request.kind != .nonconnectable {
            _ = try await send(LESetScanResponseData(data: try .checked(request.plan.scanResponse)))
        }
        _ = try await send(LESetAdvertisingEnable(enable: true))
    }

    /// Puts legacy or extended packets on air through the extended commands.
    private func enableExtended(_ request: AdvertisingRequest) async throws(BLEError) {
        let interval = LongSlots(try request.checkedInterval())
        await sendTolerant(
            LESetExtendedAdvertisingEnable(enable: false, sets: [.init(set: advertisingSet)]))
        _ = try await send(
            LESetExtendedAdvertisingParameters(
                set: advertisingSet, properties: request.properties, intervalMin: interval,
                intervalMax: interval, ownAddressType: ownAddressType, txPower: request.power ?? 127))
        if identity.type == .random {
            _ = try await send(LESetAdvertisingSetRandomAddress(set: advertisingSet, address: identity))
        }
        let (data, scanResponse) = request.payloads
        if let data {
            for fragment in AdvertisingDataFragment.fragments(of: data) {
                _ = try await send(LESetExtendedAdvertisingData(fragment: fragment))
            }
        }
        if let scanResponse {
            for fragment in AdvertisingDataFragment.fragments(of: scanResponse) {
                _ = try await send(LESetExtendedScanResponseData(fragment: fragment))
            }
        }
        _ = try await send(LESetExtendedAdvertisingEnable(enable: true, sets: [.init(set: advertisingSet)]))
    }

    private func disableAdvertising() async {
        switch advertising.family {
        case .legacy: await sendTolerant(LESetAdvertisingEnable(enable: false))
        case .extended:
            await sendTolerant(
                LESetExtendedAdvertisingEnable(enable: false, sets: [.init(set: advertisingSet)]))
            await sendTolerant(LERemoveAdvertisingSet(set: advertisingSet))
        }
    }

    /// A central connected: the controller has ended connectable advertising by itself.
    func advertisingWasConsumed() {
        guard advertising.wanted?.request.kind == .connectable else { return }
        advertising.onAir = nil
        reconcileAdvertising()
    }
}
