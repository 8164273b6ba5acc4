import BLECore

/// The controller has failed, in a way that only its maker can name.
public struct HardwareError: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.16.
    public static let definition = event(.hardwareError, "hardware code", Self.init) { $0.hardwareCode }

    /// The maker's code.
    public var hardwareCode: UInt8

    /// That failure.
    public init(hardwareCode: UInt8) { self.hardwareCode = hardwareCode }
}

/// Packets left the controller's buffers, so the host may send that many more.
public struct NumberOfCompletedPackets: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.19.
    public static let definition = event(.numberOfCompletedPackets, "completed packets", Self.init) {
        $0.completed
    }

    /// For each connection the packets since the last such event; at most 63 fit.
    public var completed: [CompletedPackets]

    /// Those packets.
    public init(completed: [CompletedPackets]) { self.completed = completed }
}

/// The host has sent more than the controller has buffers for.
public struct DataBufferOverflow: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.26.
    public static let definition = event(.dataBufferOverflow, "link type", Self.init) { $0.linkType }

    /// Which data were too many.
    public struct LinkType: HCICode {
        /// The octet.
        public let rawValue: UInt8

        /// The type of that octet.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Synchronous data.
        public static let synchronous = LinkType(rawValue: 0x00)
        /// ACL data.
        public static let acl = LinkType(rawValue: 0x01)
        /// Isochronous data.
        public static let iso = LinkType(rawValue: 0x02)
    }

    /// Which data were too many.
    public var linkType: LinkType

    /// Too many data of that type.
    public init(linkType: LinkType) { self.linkType = linkType }
}
