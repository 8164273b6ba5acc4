import BLECore
import HCI

extension VirtualController {
    /// The properties and features of a simulated controller.
    public struct Configuration: Hashable, Sendable {
        /// The public address; nil if there is none, for which Read BD_ADDR returns zeros.
        public var publicAddress: DeviceAddress?
        /// The maximum length of the data in an ACL packet from the host, in octets.
        public var aclPacketLength: UInt16 = 251
        /// The number of buffers for ACL packets from the host, shared by all links.
        public var aclPackets: UInt8 = 12
        /// Whether LE Read Buffer Size returns no buffers and Read Buffer Size returns these, as on controllers
        /// whose LE and BR/EDR links share them. Otherwise Read Buffer Size is an unknown command.
        package var sharesBuffers = false
        /// The maximum number of devices in the filter accept list.
        public var acceptListSize: UInt8 = 16
        /// The maximum number of devices in the resolving list; zero for a controller without LL Privacy.
        public var resolvingListSize: UInt8
        /// Whether the controller supports LE Encryption and LE Ping. Otherwise their commands are unknown,
        /// and a peer's request to encrypt is rejected with Unsupported Remote Feature.
        public var encrypts = true
        /// The maximum number of simultaneous connections, 32 by default.
        public var maximumConnections = 32
        /// The capacity of the duplicate filter. When it is full, the oldest entries are evicted, and their
        /// advertisers are reported again.
        package var duplicateMemory = 256
        /// The maximum number of advertising reports that wait for the host; further reports are dropped.
        package var reportLimit = 256
        /// The features of Core Specification 5; nil for a controller that supports only the legacy commands.
        public var extended: ExtendedAbilities?
        /// The maximum transmit power in dBm, -127 to 20.
        public var transmitPower: Int8 = 0
        /// The minimum transmit power in dBm, which is used if a host requests less.
        public var minimumTransmitPower: Int8 = -20
        /// The version of the Core Specification that the controller reports.
        public var version: CoreVersion
        /// The manufacturer that the controller reports, as a SIG company identifier; 0xffff is not assigned.
        public var company: UInt16 = 0xffff
        /// The manufacturer's number of the version (Subversion).
        public var subversion: UInt16 = 0

        /// Creates a configuration. By default there is no public address, and the controller supports only
        /// the legacy commands, as controllers of version 4.2 do. With extended abilities, its version is
        /// 5.4, and it also supports LL Privacy.
        public init(publicAddress: DeviceAddress? = nil, extended: ExtendedAbilities? = nil) {
            self.publicAddress = publicAddress
            self.extended = extended
            version = extended == nil ? .v4_2 : .v5_4
            resolvingListSize = extended == nil ? 0 : 16
        }
    }
}
