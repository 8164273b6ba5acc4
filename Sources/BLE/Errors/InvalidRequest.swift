import BLECore
import GATTServer
import HCI

extension BLEError {
    /// Why a request is invalid.
    public enum InvalidRequest: Hashable, Sendable {
        /// The set of PHYs is empty.
        case noPHY
        /// The number does not stand for a PHY.
        case phy(PHY)
        /// Advertising does not begin on that PHY, so a scan on it would find nothing.
        case scanning(on: PHY)
        /// The supervision timeout is not longer than `moreThan`: twice the longest interval, times one more than the
        /// latency (Core Specification 5.4, Vol 4, Part E, 7.8.12).
        case supervisionTimeoutTooShort(Duration, moreThan: Duration)
        /// Connection parameters cannot be requested from the peer.
        case parameterRequest(LESignalingError)
        /// The bond with that device has no key for encryption as the central.
        case noEncryptionKey(DeviceAddress)
        /// Only the central of a link can start pairing.
        case onlyCentralPairs
        /// The link to that device is not encrypted with the key of a bond.
        case notEncryptedByBond(DeviceAddress)
        /// The first device claims the identity of the second one, whose bond is stronger than the new one.
        case weakerBond(DeviceAddress, of: DeviceAddress)
        /// The server cannot store the value.
        case value(AttributeValueError)
        /// All services can be replaced only while there is no link.
        case servicesInUse
        /// The adapter's server is already restored under another name.
        case serverRestored
        /// The characteristic does not support indications, which were requested; or it supports neither
        /// notifications nor indications.
        case notSubscribable(BluetoothUUID, indications: Bool)
        /// No characteristic was given to subscribe to.
        case nothingToSubscribe
        /// The characteristic whose value has this handle does not offer writes without response: its server would
        /// drop the value, and not report that.
        case noWriteWithoutResponse(AttributeHandle)
        /// Another task waits for the stream's next value.
        case streamInUse
        /// The central belongs to another adapter.
        case foreignCentral(Central)
        /// The advertisement has ended and cannot be changed.
        case advertisementEnded
        /// The settings of the advertisement contradict each other.
        case advertising(AdvertisingConflict)
    }

    /// Why the settings of an advertisement contradict each other.
    public enum AdvertisingConflict: Hashable, Sendable {
        /// The high duty cycle is for legacy packets only.
        case extendedHighDutyCycle
        /// Directed advertising in legacy packets is connectable.
        case directedNotConnectable
        /// Directed advertising in legacy packets has no data.
        case directedData
        /// Only extended, nonconnectable advertising can be anonymous.
        case anonymous
        /// A periodic train requires extended, nonconnectable advertising that is not anonymous.
        case periodic
        /// The header of legacy packets has no transmit power.
        case legacyPower
        /// Nonconnectable legacy advertising has no scan response.
        case scanResponse
        /// Scannable extended advertising requires data in its scan response.
        case emptyScanResponse
        /// Advertising does not begin on that PHY.
        case primaryPHY(PHY)
        /// The number does not stand for a PHY.
        case secondaryPHY(PHY)
        /// Legacy packets are sent on LE 1M.
        case legacyPHY
        /// None of the channels 37, 38 and 39 is given, or another channel is.
        case channels
    }
}

extension BLEError.InvalidRequest: CustomStringConvertible {
    /// A clause: what is wrong, and what would be right.
    public var description: String {
        switch self {
        case .noPHY: "no PHY is given: at least one is needed"
        case .phy(let phy): "there is no PHY \(phy): a link uses LE 1M, LE 2M or LE Coded"
        case .scanning(let phy):
            "cannot scan on \(phy.phrase): the primary PHY of advertising is LE 1M or LE Coded"
        case .supervisionTimeoutTooShort(let timeout, let least):
            "a supervision timeout of \(timeout.phrase) is too short: it must be more than \(least.phrase), "
                + "which is twice the interval times (latency + 1)"
        case .parameterRequest(.notPeripheral):
            "only the peripheral of a link requests connection parameters; a central changes them"
        case .parameterRequest(.outOfRange):
            "the requested connection parameters are out of range"
        case .parameterRequest(.busy):
            "the peer has not answered the previous request for connection parameters"
        case .noEncryptionKey(let peer): "the bond with \(peer) has no key for encryption as the central"
        case .onlyCentralPairs: "only the central of a link can start pairing"
        case .notEncryptedByBond(let peer): "the link to \(peer) is not encrypted with the key of a bond"
        case .weakerBond(let peer, let identity):
            "\(peer) has the identity address \(identity), whose bond is stronger: remove that bond to replace it"
        case .value(let error): "\(error)"
        case .servicesInUse: "all services can be replaced only while there is no link; `add` adds services"
        case .serverRestored: "this adapter's server is already restored under another name"
        case .notSubscribable(let uuid, let indications):
            "characteristic \(uuid) \(indications ? "does not indicate" : "neither notifies nor indicates")"
        case .nothingToSubscribe: "there is no characteristic to subscribe to"
        case .noWriteWithoutResponse(let handle):
            "the characteristic with the value \(handle) does not offer writes without response"
        case .streamInUse: "another task waits for this stream's next value"
        case .foreignCentral(let central): "\(central) is a central of another adapter"
        case .advertisementEnded: "the advertisement has ended"
        case .advertising(let conflict): "\(conflict)"
        }
    }
}

extension BLEError.AdvertisingConflict: CustomStringConvertible {
    /// The rule that the settings break, as a clause.
    public var description: String {
        switch self {
        case .extendedHighDutyCycle: "the high duty cycle is for legacy packets only"
        case .directedNotConnectable: "directed advertising in legacy packets is connectable"
        case .directedData:
            "directed advertising in legacy packets has no data; in extended packets it may have some"
        case .anonymous: "only extended, nonconnectable advertising can be anonymous"
        case .periodic:
            "a periodic train needs extended, nonconnectable advertising that is not anonymous"
        case .legacyPower:
            "legacy packets have no transmit power in their header; the advertising data can have it"
        case .scanResponse: "nonconnectable advertising has no scan response"
        case .emptyScanResponse: "scannable extended advertising needs data for its scan response"
        case .primaryPHY(let phy): "the primary PHY of advertising is LE 1M or LE Coded, not \(phy.phrase)"
        case .secondaryPHY(let phy): "there is no PHY \(phy)"
        case .legacyPHY: "legacy packets are sent on LE 1M; extended ones may use other PHYs"
        case .channels: "advertising needs at least one of the channels 37, 38 and 39, and no other"
        }
    }
}
