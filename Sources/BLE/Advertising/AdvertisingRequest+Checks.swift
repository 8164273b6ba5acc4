import BLECore
import HCI

/// What is refused before a command is sent: what the specification does not know, and what this controller
/// has not.
extension AdvertisingRequest {
    /// Throws what is wrong with it for a controller of those capabilities.
    func check(for controller: ControllerCapabilities) throws(BLEError) {
        if isExtended, !controller.hasExtendedFamily {
            throw .adapter(.unsupported("extended advertising"))
        }
        try checkInterval(controller)
        try checkKind()
        try checkPHYs(controller.features)
        try checkLimits(controller)
        try checkData(controller)
        try periodic?.check(for: controller)
    }

    /// The interval that every legacy controller takes (Core Specification 5.4, Vol 4, Part E, 7.8.5), the
    /// longer ones of extended packets (7.8.53), and the shortest of what nobody can connect to before 5.0.
    private func checkInterval(_ controller: ControllerCapabilities) throws(BLEError) {
        guard direction?.dutyCycle != .high else { return }
        let isOld = controller.version.map { $0.hciVersion < .v5_0 } ?? false
        let least: Duration = isOld && !isConnectable ? .milliseconds(100) : .milliseconds(20)
        let most: Duration = isExtended ? .microseconds(0xff_ffff * 625) : .milliseconds(10_240)
        guard (least...most).contains(interval) else {
            throw .timing(.outOfRange("an advertising interval", least...most, interval))
        }
    }

    private func checkKind() throws(BLEError) {
        if let direction {
            if isExtended, direction.dutyCycle == .high {
                throw .invalidRequest("the high duty cycle is for legacy packets only")
            }
            if !isExtended, !isConnectable {
                throw .invalidRequest("directed advertising in legacy packets is connectable")
            }
            if !isExtended, !plan.data.isEmpty || !plan.scanResponse.isEmpty {
                throw .invalidRequest(
                    "directed advertising in legacy packets says nothing else; extended packets can")
            }
        }
        if isAnonymous, !isExtended || kind != .nonconnectable {
            throw .invalidRequest("only extended, nonconnectable advertising can be anonymous")
        }
        if periodic != nil, !isExtended || kind != .nonconnectable || isAnonymous {
            throw .invalidRequest(
                "a periodic train goes with extended, nonconnectable advertising that is not anonymous")
        }
        if tellsPower, !isExtended {
            throw .invalidRequest("the header of legacy packets has no power; the data can tell it")
        }
        if kind == .nonconnectable, !isExtended, !plan.scanResponse.isEmpty {
            throw .invalidRequest("nonconnectable advertising has no scan response")
        }
        if kind == .scannable, plan.extended?.isEmpty == true {
            throw .invalidRequest("scannable extended advertising needs data for its scan response")
        }
    }

    private func checkPHYs(_ features: LEFeatures) throws(BLEError) {
        guard [.le1M, .leCoded].contains(primaryPHY) else {
            throw .invalidRequest("advertising begins on LE 1M or LE Coded, not on \(primaryPHY)")
        }
        guard [.le1M, .le2M, .leCoded].contains(secondaryPHY) else {
            throw .invalidRequest("there is no PHY \(secondaryPHY)")
        }
        if !isExtended, primaryPHY != .le1M || secondaryPHY != .le1M {
            throw .invalidRequest("legacy packets are sent on LE 1M; extended ones may use other PHYs")
        }
        let phys = [primaryPHY, secondaryPHY]
        if phys.contains(.leCoded), !features.contains(.leCodedPHY) {
            throw .adapter(.unsupported("advertising on the Coded PHY"))
        }
        if phys.contains(.le2M), !features.contains(.le2MPHY) {
            throw .adapter(.unsupported("advertising on the 2M PHY"))
        }
    }

    private func checkLimits(_ controller: ControllerCapabilities) throws(BLEError) {
        if channels.isEmpty || !channels.isSubset(of: .all) {
            throw .invalidRequest("advertising needs at least one of the channels 37, 38 and 39")
        }
        if let power, !(-127...20).contains(power) {
            throw .limit("the transmit power in dBm, from -127,", limit: 20, value: Int(power))
        }
        if let sid, sid > 15 { throw .limit("the number of an advertising set", limit: 15, value: Int(sid)) }
        if let duration, duration <= .zero {
            throw .invalidRequest("advertising needs more time than \(duration)")
        }
        if let maximumEvents {
            guard maximumEvents > 0 else { throw .invalidRequest("advertising needs one event at least") }
            guard controller.hasExtendedFamily else {
                throw .adapter(.unsupported("counting advertising events"))
            }
        }
    }

    private func checkData(_ controller: ControllerCapabilities) throws(BLEError) {
        guard let extended = plan.extended else { return }
        if isConnectable {
            guard extended.count <= connectableCapacity else {
                throw .limit(
                    "the data of connectable advertising, which must be in one packet,",
                    limit: connectableCapacity, value: extended.count)
            }
        }
        let limit = controller.maximumAdvertisingDataLength
        guard extended.count <= limit else {
            throw .limit("the advertising data of this controller", limit: limit, value: extended.count)
        }
    }
}
