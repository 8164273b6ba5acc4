import BLECore
import HCI
import HCISocket
import Logging

/// Brings the radio to what the schedule says.
extension Adapter {
    /// Chooses the commands and with them the sets. The kernel numbers its own sets from 1 upwards, so ours
    /// are numbered from the last one, 0xef, downwards.
    func useSets(_ family: CommandFamily) {
        advertising.family = family
        let isExtended = family == .extended
        let count = isExtended ? min(max(capabilities.numberOfAdvertisingSets, 1), 0x40) : 1
        // Beside other processes, those may not be the last ones.
        let choice = isExtended && kernel != nil ? 0x40 : count
        let sets = (0..<UInt8(choice)).map { AdvertisingHandle(rawValue: 0xef - $0) }
        advertising.schedule.use(sets, count: count, limitsTime: isExtended)
    }

    /// Whether a set of a kernel adapter is this process's: others that advertise by this library keep off it
    /// then. That the name cannot be asked for is no reason not to advertise.
    private func claim(_ set: AdvertisingHandle) -> Bool {
        guard let kernel, advertising.family == .extended, advertising.claims[set] == nil else { return true }
        do throws(PortError) {
            guard let claim = try NameClaim("bletool/hci\(kernel.index)/advertising/\(set.rawValue.hex)")
            else {
                return false
            }
            advertising.claims[set] = claim
        } catch {
            log.info("\(error)")
        }
        return true
    }

    /// The sets that are not used any more are anybody's.
    private func giveBackSets() {
        for set in advertising.claims.keys where advertising.schedule.occupants[set] == nil {
            advertising.claims[set] = nil
        }
    }

    /// Brings the radio to what is wanted. One run at a time; what changes meanwhile is seen at its end.
    func reconcileAdvertising() {
        guard !advertising.isChanging, !recovery.isUnderWay, end == nil else { return }
        guard let step = nextAdvertisingStep() else { return advertisingSettled() }
        advertising.isChanging = true
        Task(executorPreference: loop) { await self.changeAdvertising(step) }
    }

    private func nextAdvertisingStep() -> AdvertisingStep? {
        guard end == nil, !recovery.isUnderWay else { return nil }
        advertising.schedule.links = connectedCentrals
        return advertising.schedule.next(at: loop.now)
    }

    /// How many centrals are connected. Of the kernel's links the raw socket tells before their sockets come.
    private var connectedCentrals: Int {
        max(links.values.count { $0.role == .peripheral }, kernelCentrals.count)
    }

    private func changeAdvertising(_ first: AdvertisingStep) async {
        var step: AdvertisingStep? = first
        while let current = step {
            await perform(current)
            giveBackSets()
            step = nextAdvertisingStep()
        }
        advertising.isChanging = false
        if !recovery.isUnderWay { advertisingSettled() }
        changed()
    }

    /// The radio does all that is possible now.
    private func advertisingSettled() {
        giveBackSets()
        // What was changed in a pause is on air after it.
        guard !advertising.schedule.isHeld else { return }
        advertising.updated.resumeAll(with: .success(()))
        armAdvertising()
    }

    private func perform(_ step: AdvertisingStep) async {
        switch step {
        case .begin(let beginning) where !claim(beginning.set):
            if !advertising.schedule.taken(beginning.set) {
                failAdvertising(
                    beginning.id, .limit("the number of advertising sets left", limit: 0, value: 1))
            }
        case .begin(let beginning):
            do throws(BLEError) {
                let power = try await putOnAir(beginning)
                advertising.schedule.began(beginning.set, at: loop.now)
                if let power { advertising.records[beginning.id]?.power = power }
                advertising.started.resume(beginning.id, with: .success(()))
            } catch {
                // The legacy commands' advertiser is off, or somebody else's.
                if advertising.family == .extended { await takeOffAir(beginning.set) }
                refused(beginning, beginning.request.explaining(error))
            }
        case .change(let id, let set, let request):
            do throws(BLEError) {
                let power = advertising.records[id]?.power
                try await setData(
                    of: request.sent(with: power), on: set,
                    over: advertising.schedule.occupants[set]?.request.sent(with: power))
                advertising.schedule.changed(set, to: request)
            } catch {
                await takeOffAir(set)
                if recovery.isUnderWay { return advertising.schedule.doubt(set) }
                switch error {
                case .hci(.unknownAdvertisingIdentifier, _), .hci(.operationCancelledByHost, _):
                    // Others have removed it, or a reset has: it begins anew.
                    if !advertising.schedule.lost(set) { failAdvertising(id, error) }
                default:
                    if advertising.schedule.takeBack(set, from: request) {
                        advertising.updated.resume(
                            where: { $0.id == id }, with: .failure(request.explaining(error)))
                    }
                }
            }
        case .pause(let set):
            await pause(set)
            if recovery.isUnderWay { return advertising.schedule.doubt(set) }
            advertising.schedule.paused(set)
        case .end(let set):
            // What we have not on air may be somebody else's.
            let isOff = advertising.schedule.occupants[set]?.phase == .off
            if advertising.family == .extended || !isOff { await takeOffAir(set) }
            if recovery.isUnderWay { return advertising.schedule.doubt(set) }
            advertising.schedule.ended(set)
        }
    }
}
