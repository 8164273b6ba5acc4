import BLECore

/// Reads the version and the manufacturer of the controller.
package struct ReadLocalVersionInformation: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.4.1.
    package static let definition = command(.readLocalVersionInformation, "", Self.init) { _ in }

    package init() {}

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "HCI_Version, HCI_Subversion, LMP_Version, Company_Identifier, LMP_Subversion", Self.init
        ) {
            ($0.hciVersion, $0.hciSubversion, $0.lmpVersion, $0.company, $0.lmpSubversion)
        }
        package static let packetName = "local version"

        /// The version of the Core Specification that HCI complies with.
        package var hciVersion: CoreVersion
        /// The revision of HCI, which the manufacturer defines.
        package var hciSubversion: UInt16
        /// The version of the Core Specification that the link layer complies with.
        package var lmpVersion: CoreVersion
        /// The manufacturer's company identifier, assigned by the SIG.
        package var company: UInt16
        /// The revision of the link layer, which the manufacturer defines.
        package var lmpSubversion: UInt16

        package init(
            hciVersion: CoreVersion, hciSubversion: UInt16, lmpVersion: CoreVersion, company: UInt16,
            lmpSubversion: UInt16
        ) {
            (self.hciVersion, self.hciSubversion) = (hciVersion, hciSubversion)
            (self.lmpVersion, self.company, self.lmpSubversion) = (lmpVersion, company, lmpSubversion)
        }
    }
}

/// Reads the commands that the controller supports.
package struct ReadLocalSupportedCommands: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.4.2.
    package static let definition = command(.readLocalSupportedCommands, "", Self.init) { _ in }
    package typealias ReturnParameters = Returned<SupportedCommands>

    package init() {}
}

/// Reads the BR/EDR features of the controller, and whether it supports Low Energy.
package struct ReadLocalSupportedFeatures: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.4.3.
    package static let definition = command(.readLocalSupportedFeatures, "", Self.init) { _ in }
    package typealias ReturnParameters = Returned<LMPFeatures>

    package init() {}
}

/// Reads a page of the features that the controller supports on BR/EDR and in combination with Low Energy.
package struct ReadLocalExtendedFeatures: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.4.4.
    package static let definition = command(.readLocalExtendedFeatures, "Page_Number", Self.init) { $0.page }

    /// The number of the page, from 0.
    package var page: UInt8

    package init(page: UInt8) { self.page = page }

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "Page_Number, Max_Page_Number, Extended_LMP_Features", Self.init
        ) {
            ($0.page, $0.lastPage, $0.features)
        }
        package static let packetName = "extended features"

        package var page: UInt8
        /// The number of the last page.
        package var lastPage: UInt8
        /// The feature bits; those of page 0 are `LMPFeatures`. Bit 1 of page 1: the host supports Low
        /// Energy.
        package var features: UInt64

        package init(page: UInt8, lastPage: UInt8, features: UInt64) {
            (self.page, self.lastPage, self.features) = (page, lastPage, features)
        }
    }
}

/// Reads the public address of the controller.
package struct ReadBDADDR: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.4.6.
    package static let definition = command(.readBDADDR, "", Self.init) { _ in }

    package init() {}

    /// The public address; all zeros when the controller has none.
    package struct ReturnParameters: HCIParameters {
        /// The address in 6 octets, without its type, which is always public.
        package static let layout = HCILayout(
            "BD_ADDR", { (bare: BareAddress) in Self(address: bare.public) }
        ) {
            BareAddress($0.address)
        }
        package static let packetName = "BD_ADDR"

        package var address: DeviceAddress

        package init(address: DeviceAddress) { self.address = address }
    }
}

/// Reads the buffers of the controller, which Low Energy connections share if LE Read Buffer Size reports
/// none.
package struct ReadBufferSize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.4.5.
    package static let definition = command(.readBufferSize, "", Self.init) { _ in }

    package init() {}

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            """
            ACL_Data_Packet_Length, Synchronous_Data_Packet_Length, Total_Num_ACL_Data_Packets, \
            Total_Num_Synchronous_Data_Packets
            """, Self.init
        ) {
            ($0.aclLength, $0.synchronousLength, $0.aclPackets, $0.synchronousPackets)
        }
        package static let packetName = "buffer size"

        /// The maximum number of data octets in an ACL packet, without its header.
        package var aclLength: UInt16
        /// The maximum number of data octets in a synchronous packet, without its header.
        package var synchronousLength: UInt8
        /// The number of ACL packets that the controller can buffer.
        package var aclPackets: UInt16
        /// The number of synchronous packets that the controller can buffer.
        package var synchronousPackets: UInt16

        package init(
            aclLength: UInt16, synchronousLength: UInt8 = 0, aclPackets: UInt16,
            synchronousPackets: UInt16 = 0
        ) {
            (self.aclLength, self.synchronousLength) = (aclLength, synchronousLength)
            (self.aclPackets, self.synchronousPackets) = (aclPackets, synchronousPackets)
        }
    }
}
