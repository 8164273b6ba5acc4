import BLECore
import HCI

extension VirtualController {
    /// The properties and features of a simulated controller.
    public struct Configuration: Hashable, Sendable {
        /// The public address; nil for none, which Read BD_ADDR shows as zeros.
        public var publicAddress: DeviceAddress?
        /// The most octets of data in an ACL packet from the host.
        public var aclPacketLength: UInt16 = 251
        /// How many ACL packets from the host it has buffers for, on all links.
        public var aclPackets: UInt8 = 12
        /// Whether LE Read Buffer Size returns no buffers and Read Buffer Size returns these, as on controllers
        /// whose LE and BR/EDR links share them. Otherwise Read Buffer Size is an unknown command.
        package var sharesBuffers = false
        /// The most devices in the filter accept list.
        public var acceptListSize: UInt8 = 16
        /// The most devices in the resolving list; zero for a controller without LL Privacy.
        public var resolvingListSize: UInt8
        /// Whether it has LE Encryption and LE Ping. Otherwise their commands are unknown, and a peer's
        /// request to encrypt is rejected with Unsupported Remote Feature.
        public var encrypts = true
        /// The greatest number of simultaneous connections, 32 by default.
        public var maximumConnections = 32
        /// How many advertisers the duplicate filter remembers. When it receives more, the oldest
        /// are forgotten, and reported again.
        package var duplicateMemory = 256
        /// How many advertising reports wait for the host. When more are due they are dropped.
        package var reportLimit = 256
        /// What it has of Core Specification 5; nil for a controller that knows the legacy commands only.
        public var extended: ExtendedAbilities?
        /// dBm, -127 to 20: how strong it sends, at most.
        public var transmitPower: Int8 = 0
        /// dBm: the minimum transmit power, for a host that requests less.
        public var minimumTransmitPower: Int8 = -20
        /// The version of the Core Specification that it reports.
        public var version: CoreVersion
        /// The manufacturer that it reports, as a SIG company identifier; 0xffff is not assigned.
        public var company: UInt16 = 0xffff
        /// The maker's own number for the version.
        public var subversion: UInt16 = 0

        /// A controller without a public address, by default one of the legacy commands only, as those of
        /// 4.2 are. With extended abilities it is of 5.4 and has LL Privacy, too.
        public init(publicAddress: DeviceAddress? = nil, extended: ExtendedAbilities? = nil) {
            self.publicAddress = publicAddress
            self.extended = extended
            version = extended == nil ? .v4_2 : .v5_4
            resolvingListSize = extended == nil ? 0 : 16
        }
    }
}
