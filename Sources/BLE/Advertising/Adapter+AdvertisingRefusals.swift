import BLECore
import HCI
import Logging

/// What becomes of what the controller does not advertise.
extension Adapter {
    /// The controller does not put it on air. The set is removed.
    func refused(_ beginning: AdvertisingStep.Beginning, _ error: BLEError) {
        let (id, set) = (beginning.id, beginning.set)
        // It begins anew when the controller is back.
        if recovery.isUnderWay { return advertising.schedule.doubt(set) }
        switch error {
        case .hci(.unknownAdvertisingIdentifier, _), .hci(.operationCancelledByHost, _):
            // Others have removed the set, or a reset came between; what brings all back begins this anew.
            if !advertising.schedule.lost(set) { failAdvertising(id, error) }
            return
        case .hci(.commandDisallowed, .leSetExtendedAdvertisingParameters)
        where !beginning.request.isExtended && advertising.schedule.occupants.count == 1
            && beginning.before == .nothing && !advertising.schedule.hasBegun(id):
            // Somebody used the legacy family before us, which only a reset makes the controller forget.
            advertising.schedule.ended(set)
            return useSets(.legacy)
        default: break
        }
        if advertising.schedule.takeBack(set) {
            return advertising.updated.resume(where: { $0.id == id }, with: .failure(error))
        }
        advertising.schedule.ended(set)
        switch error {
        case .hci(.memoryCapacityExceeded, .leSetExtendedAdvertisingParameters),
            .hci(.limitReached, .leSetExtendedAdvertisingParameters):
            if advertising.schedule.shrink() { return }
            failAdvertising(id, .limit("the number of advertising sets left", limit: 0, value: 1))
        case .hci(.commandDisallowed, .leSetAdvertisingParameters) where kernel != nil:
            failAdvertising(
                id,
                .adapter(
                    .inUse("the kernel's own advertising or another program's: it has one set of packets")))
        case .hci:
            // Some controllers cannot advertise beside a link.
            let besideLinks = !(links.isEmpty && kernelCentrals.isEmpty)
            guard advertising.schedule.refused(id, besideLinks: besideLinks, at: loop.now) else {
                return failAdvertising(id, error)
            }
            log.warning(
                "not advertising for now\(besideLinks ? ", beside \(links.count) links" : ""): \(error)")
        default: failAdvertising(id, error)
        }
    }

    func failAdvertising(_ id: AdvertisingID, _ error: BLEError) {
        log.info("cannot advertise: \(error)")
        advertising.schedule.remove(id)
        advertising.finish(id, .failure(error))
    }
}
