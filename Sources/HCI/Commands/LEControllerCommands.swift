import BLECore

/// Chooses the Low Energy events that may come, when LE Meta may.
package struct LESetEventMask: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.1.
    package static let definition = command(.leSetEventMask, "LE_Event_Mask", Self.init) { $0.mask }

    package var mask: LEEventMask

    /// Lets the events of `mask` come.
    package init(mask: LEEventMask) { self.mask = mask }
}

/// Asks for the buffers that the controller has for Low Energy connections.
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

        /// The most octets of data in an ACL packet, without its header; 27 at least, or 0.
        package var aclLength: UInt16
        /// How many ACL packets the controller can take.
        package var aclPackets: UInt8

        package init(aclLength: UInt16, aclPackets: UInt8) {
            (self.aclLength, self.aclPackets) = (aclLength, aclPackets)
        }
    }
}

/// Asks for the buffers that the controller has for Low Energy connections and isochronous streams.
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

        /// The most octets of data in an ACL packet, without its header; 27 at least, or 0.
        package var aclLength: UInt16
        /// How many ACL packets the controller can take.
        package var aclPackets: UInt8
        /// The most octets in an isochronous packet, without its header.
        package var isoLength: UInt16
        /// How many isochronous packets the controller can take.
        package var isoPackets: UInt8

        package init(aclLength: UInt16, aclPackets: UInt8, isoLength: UInt16, isoPackets: UInt8) {
            (self.aclLength, self.aclPackets) = (aclLength, aclPackets)
            (self.isoLength, self.isoPackets) = (isoLength, isoPackets)
        }
    }
}

/// Asks what the controller can do on Low Energy.
package struct LEReadLocalSupportedFeatures: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.3.
    package static let definition = command(.leReadLocalSupportedFeatures, "", Self.init) { _ in }
    package typealias ReturnParameters = Returned<LEFeatures>

    package init() {}
}

/// Gives the controller a random address of the host's making.
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

/// Asks which roles and states the controller can combine.
package struct LEReadSupportedStates: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.27.
    package static let definition = command(.leReadSupportedStates, "", Self.init) { _ in }
    /// A bit for each combination.
    package typealias ReturnParameters = Returned<UInt64>

    package init() {}
}

/// Asks how long the filter accept list may grow.
package struct LEReadFilterAcceptListSize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.14.
    package static let definition = command(.leReadFilterAcceptListSize, "", Self.init) { _ in }
    /// The most devices in the list.
    package typealias ReturnParameters = Returned<UInt8>

    package init() {}
}

package struct LEClearFilterAcceptList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.15.
    package static let definition = command(.leClearFilterAcceptList, "", Self.init) { _ in }

    package init() {}
}

/// Puts a device on the filter accept list.
package struct LEAddDeviceToFilterAcceptList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.16.
    package static let definition = command(.leAddDeviceToFilterAcceptList, "Address", Self.init) {
        $0.device
    }

    /// Its address; type `.anonymous` stands for all anonymous advertisers.
    package var device: HCIAddress

    package init(device: HCIAddress) { self.device = device }
}

/// Takes a device off the filter accept list.
package struct LERemoveDeviceFromFilterAcceptList: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.17.
    package static let definition = command(.leRemoveDeviceFromFilterAcceptList, "Address", Self.init) {
        $0.device
    }

    package var device: HCIAddress

    package init(device: HCIAddress) { self.device = device }
}
