import BLECore

/// The controller has a hardware failure, which only its manufacturer can identify.
package struct HardwareError: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.16.
    package static let definition = event(.hardwareError, "Hardware_Code", Self.init) { $0.hardwareCode }

    /// Hardware_Code, whose meaning the manufacturer of the controller defines.
    package var hardwareCode: UInt8

    package init(hardwareCode: UInt8) { self.hardwareCode = hardwareCode }
}

/// Packets have left the controller's buffers, so the host can send as many more.
package struct NumberOfCompletedPackets: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.19.
    package static let definition = event(.numberOfCompletedPackets, "Num_Handles", Self.init) {
        $0.completed
    }

    /// The packets of each connection since the last such event; at most 63 entries fit.
    package var completed: [CompletedPackets]

    package init(completed: [CompletedPackets]) { self.completed = completed }
}

/// The host has sent more data than the controller can buffer.
package struct DataBufferOverflow: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.26.
    package static let definition = event(.dataBufferOverflow, "Link_Type", Self.init) { $0.linkType }

    /// The kind of data whose buffer overflowed.
    package struct LinkType: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let synchronous = LinkType(rawValue: 0x00)
        package static let acl = LinkType(rawValue: 0x01)
        package static let iso = LinkType(rawValue: 0x02)
    }

    /// The kind of data whose buffer overflowed.
    package var linkType: LinkType

    /// Creates the event for an overflow of data of that kind.
    package init(linkType: LinkType) { self.linkType = linkType }
}
