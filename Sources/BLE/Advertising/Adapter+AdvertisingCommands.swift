import BLECore
import HCI
import Logging

/// What the controller is told to advertise.
extension Adapter {
    /// Puts an advertisement on air; the transmit power where the controller tells it.
    func putOnAir(_ beginning: AdvertisingStep.Beginning) async throws(BLEError) -> Int8? {
        switch advertising.family {
        case .legacy: try await putOnAirByLegacy(beginning)
        case .extended: try await putOnAirByExtended(beginning)
        }
    }

    private func putOnAirByLegacy(_ beginning: AdvertisingStep.Beginning) async throws(BLEError) -> Int8? {
        let request = beginning.request
        // On a kernel adapter what we have not switched on is somebody else's.
        if beginning.before == .on || kernel == nil {
            await sendTolerant(LESetAdvertisingEnable(enable: false))
        }
        _ = try await send(request.legacyParameters(ownAddressType))
        let power = await legacyPower()
        try await setData(of: request.sent(with: power), on: beginning.set)
        advertising.schedule.starting(beginning.set)
        _ = try await send(LESetAdvertisingEnable(enable: true))
        return power
    }

    /// How strong the legacy commands' advertiser sends, where the controller tells.
    private func legacyPower() async -> Int8? {
        guard capabilities.commands.contains(.leReadAdvertisingPhysicalChannelTxPower) else { return nil }
        return try? await send(LEReadAdvertisingPhysicalChannelTxPower()).value
    }

    /// Puts legacy or extended packets on air through the extended commands. A periodic train begins with the
    /// set that announces it.
    private func putOnAirByExtended(_ beginning: AdvertisingStep.Beginning) async throws(BLEError) -> Int8? {
        let (request, set) = (beginning.request, beginning.set)
        let power: Int8?
        if beginning.before == .train {
            power = nil
            try await setAddress(of: set)
        } else {
            power = try await prepare(beginning)
        }
        advertising.schedule.starting(set)
        let entry = LESetExtendedAdvertisingEnable.Entry(
            set: set, duration: Centiseconds(limiting: beginning.duration),
            maxEvents: request.maximumEvents ?? 0)
        _ = try await send(LESetExtendedAdvertisingEnable(enable: true, sets: [entry]))
        return power
    }

    /// Makes a set that is ready to be switched on; the transmit power where the controller tells it.
    private func prepare(_ beginning: AdvertisingStep.Beginning) async throws(BLEError) -> Int8? {
        let (request, set) = (beginning.request, beginning.set)
        // Data of other parameters could be in the way; and a kernel adapter may have a set that another
        // process has left behind.
        let isOurs = beginning.before != .nothing
        if isOurs || kernel != nil { await takeOffAir(set, isOurs: isOurs) }
        let selected = try await send(request.extendedParameters(set, ownAddressType)).value
        // Some give back that the host left it to them.
        let power = (-127...20).contains(selected) ? selected : nil
        try await setAddress(of: set)
        if let train = request.periodic { _ = try await send(train.parameters(set)) }
        try await setData(of: request.sent(with: power), on: set)
        if request.periodic != nil {
            _ = try await send(LESetPeriodicAdvertisingEnable(enable: .on, set: set))
        }
        return power
    }

    /// Tells the address under which a set is on air, if that is not the controller's own.
    private func setAddress(of set: AdvertisingHandle) async throws(BLEError) {
        guard ownAddressType == .random else { return }
        _ = try await send(LESetAdvertisingSetRandomAddress(set: set, address: addressOnAir))
    }

    /// Tells the data, or those that are others than the ones of `old`, which is on air.
    func setData(
        of request: AdvertisingRequest, on set: AdvertisingHandle, over old: AdvertisingRequest? = nil
    ) async throws(BLEError) {
        var (data, scanResponse) = request.payloads
        if let old {
            if data == old.payloads.data { data = nil }
            if scanResponse == old.payloads.scanResponse { scanResponse = nil }
        }
        switch advertising.family {
        case .legacy:
            if let data { _ = try await send(LESetAdvertisingData(data: try .checked(data))) }
            if let scanResponse {
                _ = try await send(LESetScanResponseData(data: try .checked(scanResponse)))
            }
        case .extended:
            for fragment in data.map({ AdvertisingDataFragment.fragments(of: $0, for: set) }) ?? [] {
                _ = try await send(LESetExtendedAdvertisingData(fragment: fragment))
            }
            for fragment in scanResponse.map({ AdvertisingDataFragment.fragments(of: $0, for: set) }) ?? [] {
                _ = try await send(LESetExtendedScanResponseData(fragment: fragment))
            }
            guard let said = request.periodic?.data, said != old?.periodic?.data else { return }
            for fragment in PeriodicAdvertisingDataFragment.fragments(of: said, for: set) {
                _ = try await send(LESetPeriodicAdvertisingData(fragment: fragment))
            }
        }
    }

    /// Takes a set off the air. A train goes on.
    func pause(_ set: AdvertisingHandle) async {
        switch advertising.family {
        case .legacy: await sendTolerant(LESetAdvertisingEnable(enable: false))
        case .extended:
            await sendTolerant(LESetExtendedAdvertisingEnable(enable: false, sets: [.init(set: set)]))
        }
    }

    /// Ends a set, and its train when it is ours.
    func takeOffAir(_ set: AdvertisingHandle, isOurs: Bool = true) async {
        guard end == nil, !recovery.isUnderWay else { return }
        switch advertising.family {
        case .legacy: await sendTolerant(LESetAdvertisingEnable(enable: false))
        case .extended:
            // Nobody is to find the train that is about to end.
            await sendTolerant(LESetExtendedAdvertisingEnable(enable: false, sets: [.init(set: set)]))
            if isOurs, hasTrain(set) {
                await sendTolerant(LESetPeriodicAdvertisingEnable(enable: [], set: set))
            }
            await remove(set)
        }
    }

    /// Whether a periodic train of ours may run on a set.
    private func hasTrain(_ set: AdvertisingHandle) -> Bool {
        let occupant = advertising.schedule.occupants[set]
        return occupant?.request.periodic != nil || occupant?.previous?.periodic != nil
    }

    /// Removes a set, which must not be on air, nor its train (Core Specification 5.4, Vol 4, Part E, 7.8.59).
    private func remove(_ set: AdvertisingHandle) async {
        let command = LERemoveAdvertisingSet(set: set)
        do throws(BLEError) {
            _ = try await send(command)
        } catch .hci(.commandDisallowed, _) where capabilities.features.contains(.periodicAdvertising) {
            // What another process has left behind on a kernel adapter may have a train.
            await sendTolerant(LESetPeriodicAdvertisingEnable(enable: [], set: set))
            await sendTolerant(command)
        } catch {
            log.debug("\(LERemoveAdvertisingSet.opcode): \(error)")
        }
    }
}

extension Centiseconds {
    /// The steps in which a controller is to end by itself: zero for never, else one at least.
    fileprivate init(limiting duration: Duration?) {
        let steps = Centiseconds(duration ?? .zero)
        self.init(rawValue: duration == nil ? 0 : max(steps.rawValue, 1))
    }
}

extension LegacyAdvertisingData {
    /// The data, or the library's error for too much of it.
    fileprivate static func checked(_ data: [UInt8]) throws(BLEError) -> LegacyAdvertisingData {
        do throws(HCIParameterError) {
            return try LegacyAdvertisingData(data)
        } catch {
            throw .limit("advertising data", limit: capacity, value: data.count)
        }
    }
}
