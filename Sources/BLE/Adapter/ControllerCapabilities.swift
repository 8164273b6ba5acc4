import BLECore
import HCI

/// What a controller told about itself when it was opened.
public struct ControllerCapabilities: Hashable, Sendable {
    /// HCI version and manufacturer.
    public internal(set) var version: ReadLocalVersionInformation.ReturnParameters?
    /// The commands it has.
    public internal(set) var commands = SupportedCommands(octets: FixedOctets())
    /// The LE features it has.
    public internal(set) var features = LEFeatures()

    /// Whether it advertises, scans and connects with the extended commands.
    public var hasExtendedFamily: Bool {
        features.contains(.extendedAdvertising) && commands.contains(.leSetExtendedAdvertisingEnable)
    }
}
