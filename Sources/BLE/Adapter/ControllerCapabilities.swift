import BLECore
import HCI

/// What a controller reported about itself when it was set up.
public struct ControllerCapabilities: Hashable, Sendable {
    /// The controller's HCI version and manufacturer.
    package var version: ReadLocalVersionInformation.ReturnParameters?
    /// The HCI commands that the controller supports.
    package var commands = SupportedCommands(octets: FixedOctets())
    /// The LE features that the controller supports (Core Specification 5.4, Vol 6, Part B, 4.6).
    public package(set) var features = LEFeatures()
    /// The controller's LMP features, which cover BR/EDR; nil when it did not report them.
    package var classicFeatures: LMPFeatures?
    /// The maximum number of advertising sets at a time, 1 to 240; 1 on controllers without the extended
    /// commands. At times the controller may support fewer, depending on the resources that each set takes.
    public package(set) var numberOfAdvertisingSets = 1
    /// The maximum length of the data of an advertising set, 31 to 1,650 octets; 31 without the extended
    /// commands.
    public package(set) var maximumAdvertisingDataLength = LegacyAdvertisingData.capacity
    /// The maximum number of devices in the filter accept list.
    package var acceptListSize = 0
    /// The maximum number of devices in the resolving list; 0 on controllers without one.
    package var resolvingListSize = 0
    /// The maximum number of advertising sets in the periodic advertiser list; 0 on controllers without one.
    package var periodicAdvertiserListSize = 0
    /// The longest data packets that the controller can send and receive; nil when they are of 27 octets.
    package var maximumDataLength: LEReadMaximumDataLength.ReturnParameters?
    /// The lowest and the highest transmit power, in dBm; nil when the controller does not report them.
    package var transmitPower: LEReadTransmitPower.ReturnParameters?
    /// The maximum length of an ACL packet's data in octets, and the number of packets for which the
    /// controller has buffers; zeros on kernel adapters, where the kernel counts them, and on controllers
    /// that have no connections.
    package var aclLength = 0, aclPackets = 0

    /// Whether the extended commands are used if the controller supports them
    /// (`AdapterOptions.usesExtendedCommands`).
    var usesExtendedCommands = true

    /// Creates the capabilities of a controller that has reported none.
    package init() {}

    /// Whether the host advertises, scans and connects with the extended commands.
    package var hasExtendedFamily: Bool {
        usesExtendedCommands && features.contains(.extendedAdvertising)
            && commands.contains(.leSetExtendedAdvertisingEnable)
    }

    /// The Core Specification that the controller follows; nil when it did not report it.
    public var coreVersion: CoreVersion? { version?.hciVersion }
    /// The range of transmit power in dBm, which `AdvertisingRequest.power` chooses from; nil when the controller did
    /// not report it.
    public var transmitPowerRange: ClosedRange<Int>? {
        guard let transmitPower, transmitPower.minimum <= transmitPower.maximum else { return nil }
        return Int(transmitPower.minimum)...Int(transmitPower.maximum)
    }

    /// Whether the controller supports BR/EDR as well as LE.
    public var isDualMode: Bool {
        classicFeatures.map { $0.contains(.leSupported) && !$0.contains(.brEDRNotSupported) } ?? false
    }
}
