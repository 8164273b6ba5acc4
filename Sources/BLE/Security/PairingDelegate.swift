import BLECore
import SMP

/// Asks and shows the user what a pairing needs. Each method may take as long as the user does; if the pairing ends
/// first, the method's task is cancelled. The methods run on the adapter's loop and must not block.
///
/// ```swift
/// struct Keypad: PairingDelegate {
///     let ioCapability = IOCapability.keyboardOnly
///     func enterPasskey(for peer: DeviceAddress) async -> Passkey? { await read() }
/// }
/// ```
public protocol PairingDelegate: Sendable {
    /// The input and output of this device, which determine the pairing method (Core Specification 5.4, Vol
    /// 3, Part H, 2.3.5.1).
    var ioCapability: IOCapability { get }

    /// Shows a passkey, which the user types on the peer.
    func display(_ passkey: Passkey, for peer: DeviceAddress) async

    /// Asks the user for the passkey that the peer shows. Nil ends the pairing.
    func enterPasskey(for peer: DeviceAddress) async -> Passkey?

    /// Asks for the passkey like `enterPasskey(for:)`, which it calls by default, on a host that reports key
    /// presses: if `sendsKeypresses` is true and the peer accepts them, `keys` sends them while the user types.
    func enterPasskey(for peer: DeviceAddress, reportingTo keys: KeypressSender) async -> Passkey?

    /// Whether this host reports to the peer how its user enters a passkey: `.started`, a notification for
    /// each key, `.completed`. Not supported on kernel adapters, because the kernel sends no notifications.
    var sendsKeypresses: Bool { get }

    /// Whether a person compares the numbers of a numeric comparison. If false, a pairing by that method is not
    /// authenticated, whatever `compare(_:with:)` returns, and fails if an authenticated one is required. A kernel
    /// adapter cannot pair so: there, `displayYesNo` becomes `noInputNoOutput`, and `keyboardDisplay` `keyboardOnly`.
    var comparesNumbers: Bool { get }

    /// Asks the user whether the peer shows the same number, and returns the answer.
    func compare(_ passkey: Passkey, with peer: DeviceAddress) async -> Bool

    /// Returns whether a device may pair. Called before a pairing that the peer has begun, and before one that
    /// requires nothing else of the user (Just Works). `isBonded` is true for a device that has paired before and
    /// claims to have lost the key, as an impostor would. It is false if the link is encrypted with that key:
    /// the device has then proved that it has it.
    func authorizePairing(with peer: DeviceAddress, isBonded: Bool) async -> Bool

    /// Returns whether a device may pair like `authorizePairing(with:isBonded:)`, which it calls by default. `bond`
    /// is the one that the pairing would replace, for a device that has paired before and claims to have lost the
    /// key; nil for a new device. The bond stays until the new pairing is complete, which is at least as strong and
    /// has a key of at least the same size. For a device that claims the identity of another one, this is called after
    /// the keys were exchanged, and the answer counts if it comes within 30 s.
    func authorizePairing(with peer: DeviceAddress, replacing bond: Bond?) async -> Bool

    /// Handles a key that the peer's user has pressed.
    func peerPressed(_ key: KeypressNotification, peer: DeviceAddress) async

    /// Returns the out-of-band data that the peer has provided by other means, such as NFC; nil when there
    /// are none.
    func outOfBandData(of peer: DeviceAddress) async -> OutOfBandData?
}

extension PairingDelegate {
    /// Returns `noInputNoOutput`: by default a delegate has neither input nor output.
    public var ioCapability: IOCapability { .noInputNoOutput }
    /// Does nothing, because there is no display.
    public func display(_ passkey: Passkey, for peer: DeviceAddress) async {}
    /// Returns nil, because there is no user who could enter a passkey.
    public func enterPasskey(for peer: DeviceAddress) async -> Passkey? { nil }
    /// Asks for the passkey without reports of key presses.
    public func enterPasskey(for peer: DeviceAddress, reportingTo keys: KeypressSender) async -> Passkey? {
        await enterPasskey(for: peer)
    }
    /// False: no key presses are reported to the peer.
    public var sendsKeypresses: Bool { false }
    /// True: `compare(_:with:)` asks a person.
    public var comparesNumbers: Bool { true }
    /// Returns false, because there is no user who could compare the numbers.
    public func compare(_ passkey: Passkey, with peer: DeviceAddress) async -> Bool { false }
    /// Returns true for devices that are new.
    public func authorizePairing(with peer: DeviceAddress, isBonded: Bool) async -> Bool { !isBonded }
    /// Asks as `authorizePairing(with:isBonded:)` does.
    public func authorizePairing(with peer: DeviceAddress, replacing bond: Bond?) async -> Bool {
        await authorizePairing(with: peer, isBonded: bond != nil)
    }
    /// Ignores the keys that the peer's user presses.
    public func peerPressed(_ key: KeypressNotification, peer: DeviceAddress) async {}
    /// Returns nil, because there are no out-of-band data.
    public func outOfBandData(of peer: DeviceAddress) async -> OutOfBandData? { nil }
}
