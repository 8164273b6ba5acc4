import BLECore
import HCI

/// What is refused before a command is sent: what the specification does not know, and what this controller
/// has not.
extension AdvertisingRequest {
    /// Throws what is wrong with it for a controller of those capabilities.
    func check(for controller: ControllerCapabilities) throws(BLEError) {
        if isExtended, !controller.hasExtendedFamily {
            throw .adapter(.unsupported(.extendedAdvertising))
        }
        try checkInterval(controller)
        try checkKind()
        try checkPHYs(controller.features)
        try checkLimits(controller)
        try checkData(controller)
        try periodic?.check(for: controller)
    }

    /// The interval that every legacy controller takes (Core Specification 5.4, Vol 4, Part E, 7.8.5), the
    /// longer ones of extended packets (7.8.53), and the shortest of nonconnectable advertising before 5.0.
    private func checkInterval(_ controller: ControllerCapabilities) throws(BLEError) {
        guard direction?.dutyCycle != .high else { return }
        let isOld = controller.version.map { $0.hciVersion < .v5_0 } ?? false
        let least: Duration = isOld && !isConnectable ? .milliseconds(100) : .milliseconds(20)
        let most: Duration = isExtended ? .microseconds(0xff_ffff * 625) : .milliseconds(10_240)
        guard (least...most).contains(interval) else {
            throw .timeOutOfRange(.advertisingInterval, allowed: least...most, value: interval)
        }
    }

    private func checkKind() throws(BLEError) {
        if let direction {
            if isExtended, direction.dutyCycle == .high {
                throw .invalidRequest(.advertising(.extendedHighDutyCycle))
            }
            if !isExtended, !isConnectable {
                throw .invalidRequest(.advertising(.directedNotConnectable))
            }
            if !isExtended, !plan.data.isEmpty || !plan.scanResponse.isEmpty {
                throw .invalidRequest(.advertising(.directedData))
            }
        }
        if isAnonymous, !isExtended || kind != .nonconnectable {
            throw .invalidRequest(.advertising(.anonymous))
        }
        if periodic != nil, !isExtended || kind != .nonconnectable || isAnonymous {
            throw .invalidRequest(.advertising(.periodic))
        }
        if includesTxPower, !isExtended {
            throw .invalidRequest(.advertising(.legacyPower))
        }
        if kind == .nonconnectable, !isExtended, !plan.scanResponse.isEmpty {
            throw .invalidRequest(.advertising(.scanResponse))
        }
        if kind == .scannable, plan.extended?.isEmpty == true {
            throw .invalidRequest(.advertising(.emptyScanResponse))
        }
    }

    private func checkPHYs(_ features: LEFeatures) throws(BLEError) {
        guard [.le1M, .leCoded].contains(primaryPHY) else {
            throw .invalidRequest(.advertising(.primaryPHY(primaryPHY)))
        }
        guard [.le1M, .le2M, .leCoded].contains(secondaryPHY) else {
            throw .invalidRequest(.advertising(.secondaryPHY(secondaryPHY)))
        }
        if !isExtended, primaryPHY != .le1M || secondaryPHY != .le1M {
            throw .invalidRequest(.advertising(.legacyPHY))
        }
        let phys = [primaryPHY, secondaryPHY]
        if phys.contains(.leCoded), !features.contains(.leCodedPHY) {
            throw .adapter(.unsupported(.advertising(on: .leCoded)))
        }
        if phys.contains(.le2M), !features.contains(.le2MPHY) {
            throw .adapter(.unsupported(.advertising(on: .le2M)))
        }
    }

    /// The controller, or this host, counts it in steps of 10 ms or finer.
    /// Any that is one: where the controller keeps the time it counts in steps of 10 ms, at least one of them (Core
    /// Specification 5.4, Vol 4, Part E, 7.8.56).
    private static let durations: ClosedRange<Duration> = .microseconds(1) ... .seconds(Int64.max)

    private func checkLimits(_ controller: ControllerCapabilities) throws(BLEError) {
        if channels.isEmpty || !channels.isSubset(of: .all) {
            throw .invalidRequest(.advertising(.channels))
        }
        if let power, !(-127...20).contains(power) {
            throw .outOfRange(.transmitPower, allowed: -127...20, value: Int(power))
        }
        if let sid, sid > 15 { throw .outOfRange(.advertisingSetID, allowed: 0...15, value: Int(sid)) }
        if let duration, !Self.durations.contains(duration) {
            throw .timeOutOfRange(.advertisingDuration, allowed: Self.durations, value: duration)
        }
        if let maximumEvents {
            guard maximumEvents > 0 else {
                throw .outOfRange(.advertisingEvents, allowed: 1...255, value: Int(maximumEvents))
            }
            guard controller.hasExtendedFamily else {
                throw .adapter(.unsupported(.advertisingEventCount))
            }
        }
    }

    private func checkData(_ controller: ControllerCapabilities) throws(BLEError) {
        guard let extended = plan.extended else { return }
        if isConnectable {
            guard extended.count <= connectableCapacity else {
                throw .limit(.connectableData, maximum: connectableCapacity, value: extended.count)
            }
        }
        let limit = controller.maximumAdvertisingDataLength
        guard extended.count <= limit else {
            throw .limit(.advertisingData, maximum: limit, value: extended.count)
        }
    }
}
