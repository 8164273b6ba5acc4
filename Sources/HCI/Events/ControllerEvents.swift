import BLECore

/// The controller has failed, in a way that only its maker can name.
package struct HardwareError: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.16.
    package static let definition = event(.hardwareError, "Hardware_Code", Self.init) { $0.hardwareCode }

    /// Hardware_Code, whose meaning the manufacturer of the controller defines.
    package var hardwareCode: UInt8

    package init(hardwareCode: UInt8) { self.hardwareCode = hardwareCode }
}

/// Packets left the controller's buffers, so the host may send that many more.
package struct NumberOfCompletedPackets: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.19.
    package static let definition = event(.numberOfCompletedPackets, "Num_Handles", Self.init) {
        $0.completed
    }

    /// For each connection the packets since the last such event; at most 63 fit.
    package var completed: [CompletedPackets]

    package init(completed: [CompletedPackets]) { self.completed = completed }
}

/// The host has sent more than the controller has buffers for.
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

    /// Too many data of that type.
    package init(linkType: LinkType) { self.linkType = linkType }
}
