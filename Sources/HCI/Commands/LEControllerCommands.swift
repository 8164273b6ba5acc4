import BLECore

/// Selects the Low Energy events that the controller can send, if LE Meta is enabled.
package struct LESetEventMask: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.1.
    package static let definition = command(.leSetEventMask, "LE_Event_Mask", Self.init) { $0.mask }

    package var mask: LEEventMask

    /// Creates a command that enables the events in `mask`.
    package init(mask: LEEventMask) { self.mask = mask }
}

/// Reads the buffers that the controller has for Low Energy connections.
package struct LEReadBufferSize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.2.
    package static let definition = command(.leReadBufferSize, "", Self.init) { _ in }

    package init() {}

    /// The buffers. Zeros mean that Read Buffer Size reports them.
    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "LE_ACL_Data_Packet_Length, Total_Num_LE_ACL_Data_Packets", Self.init
        ) {
            ($0.aclLength, $0.aclPackets)
        }
        package static let packetName = "LE buffer size"

        /// The maximum number of data octets in an ACL packet, without its header: at least 27, or 0.
        package var aclLength: UInt16
        /// The number of ACL packets that the controller can buffer.
        package var aclPackets: UInt8

        package init(aclLength: UInt16, aclPackets: UInt8) {
            (self.aclLength, self.aclPackets) = (aclLength, aclPackets)
        }
    }
}

/// Reads the buffers that the controller has for Low Energy connections and isochronous streams.
package struct LEReadBufferSizeV2: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.2.
    package static let definition = command(.leReadBufferSizeV2, "", Self.init) { _ in }

    package init() {}

    /// The buffers. Zeros for ACL mean that Read Buffer Size reports them.
    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            """
            LE_ACL_Data_Packet_Length, Total_Num_LE_ACL_Data_Packets, ISO_Data_Packet_Length, \
            Total_Num_ISO_Data_Packets
            """, Self.init
        ) {
            ($0.aclLength, $0.aclPackets, $0.isoLength, $0.isoPackets)
        }
        package static let packetName = "LE buffer size [v2]"

        /// The maximum number of data octets in an ACL packet, without its header: at least 27, or 0.
        package var aclLength: UInt16
        /// The number of ACL packets that the controller can buffer.
        package var aclPackets: UInt8
        /// The maximum number of octets in an isochronous packet, without its header.
        package var isoLength: UInt16
        /// The number of isochronous packets that the controller can buffer.
        package var isoPackets: UInt8

        package init(aclLength: UInt16, aclPackets: UInt8, isoLength: UInt16, isoPackets: UInt8) {
            (self.aclLength, self.aclPackets) = (aclLength, aclPackets)
            (self.isoLength, self.isoPackets) = (isoLength, isoPackets)
        }
    }
}

/// Reads the Low Energy features of the controller.
package struct LEReadLocalSupportedFeatures: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.3.
    package static let definition = command(.leReadLocalSupportedFeatures, "", Self.init) { _ in }
    package typealias ReturnParameters = Returned<LEFeatures>

    package init() {}
}

/// Sets a random address that the host has generated.
package struct LESetRandomAddress: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.4.
    package static let definition = command(
        .leSetRandomAddress, "Random_Address", { (bare: BareAddress) in Self(address: bare.random) }
    ) {
        BareAddress($0.address)
    }

    package var address: DeviceAddress

    package init(address: DeviceAddress) { self.address = address }
}

/// Reads the combinations of roles and states that the controller supports.
package struct LEReadSupportedStates: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.27.
    package static let definition = command(.leReadSupportedStates, "", Self.init) { _ in }
    /// The supported combinations, a bit for each.
    package typealias ReturnParameters = Returned<UInt64>

    package init() {}
}

/// Reads the capacity of the filter accept list.
package struct LEReadFilterAcceptListSize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.14.
    package static let definition = command(.leReadFilterAcceptListSize, "", Self.init) { _ in }
    /// The maximum number of devices in the list.
    package typealias ReturnParameters = Returned<UInt8>

    package init() {}
}

package struct LEClearFilterAcceptList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.15.
    package static let definition = command(.leClearFilterAcceptList, "", Self.init) { _ in }

    package init() {}
}

/// Adds a device to the filter accept list.
package struct LEAddDeviceToFilterAcceptList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.16.
    package static let definition = command(.leAddDeviceToFilterAcceptList, "Address", Self.init) {
        $0.device
    }

    /// The device's address; type `.anonymous` stands for all anonymous advertisers.
    package var device: HCIAddress

    package init(device: HCIAddress) { self.device = device }
}

/// Removes a device from the filter accept list.
package struct LERemoveDeviceFromFilterAcceptList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.17.
    package static let definition = command(.leRemoveDeviceFromFilterAcceptList, "Address", Self.init) {
        $0.device
    }

    package var device: HCIAddress

    package init(device: HCIAddress) { self.device = device }
}
