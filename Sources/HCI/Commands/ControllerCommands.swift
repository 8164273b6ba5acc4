import BLECore

/// Ends everything and returns to the state after power-on.
package struct Reset: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.2.
    package static let definition = command(.reset, "", Self.init) { _ in }

    package init() {}
}

/// Chooses the events that may come.
package struct SetEventMask: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.1.
    package static let definition = command(.setEventMask, "Event_Mask", Self.init) { $0.mask }

    package var mask: HCIEventMask

    /// Lets the events of `mask` come.
    package init(mask: HCIEventMask) { self.mask = mask }
}

/// Chooses the events with codes from 0x40 on that may come.
package struct SetEventMaskPage2: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.69.
    package static let definition = command(.setEventMaskPage2, "Event_Mask_Page_2", Self.init) { $0.mask }

    package var mask: HCIEventMaskPage2

    /// Lets the events of `mask` come.
    package init(mask: HCIEventMaskPage2) { self.mask = mask }
}

/// Makes the controller count on Host Number Of Completed Packets before it sends more than the host has
/// buffers for.
package struct SetControllerToHostFlowControl: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.38.
    package static let definition = command(
        .setControllerToHostFlowControl, "Flow_Control_Enable", Self.init
    ) {
        $0.kinds
    }

    /// The kinds of packets that the host acknowledges.
    package struct Kinds: OptionSet, HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let acl = Kinds(rawValue: 1 << 0)
        package static let synchronous = Kinds(rawValue: 1 << 1)
    }

    /// The data that are under flow control.
    package var kinds: Kinds

    /// Flow control for `kinds` of data.
    package init(kinds: Kinds) { self.kinds = kinds }
}

/// Informs the controller what buffers the host has.
package struct HostBufferSize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.39.
    package static let definition = command(
        .hostBufferSize,
        """
        Host_ACL_Data_Packet_Length, Host_Synchronous_Data_Packet_Length, Host_Total_Num_ACL_Data_Packets, \
        Host_Total_Num_Synchronous_Data_Packets
        """, Self.init
    ) {
        ($0.aclLength, $0.synchronousLength, $0.aclPackets, $0.synchronousPackets)
    }

    /// The most octets of data in an ACL packet, without its header.
    package var aclLength: UInt16
    /// The most octets of data in a synchronous packet, without its header.
    package var synchronousLength: UInt8
    /// How many ACL packets the host can take.
    package var aclPackets: UInt16
    /// How many synchronous packets the host can take.
    package var synchronousPackets: UInt16

    package init(
        aclLength: UInt16, synchronousLength: UInt8 = 0, aclPackets: UInt16, synchronousPackets: UInt16 = 0
    ) {
        (self.aclLength, self.synchronousLength) = (aclLength, synchronousLength)
        (self.aclPackets, self.synchronousPackets) = (aclPackets, synchronousPackets)
    }
}

/// Informs the controller that the host's buffers are free again. It may be sent at any time and is
/// answered only when it is wrong.
package struct HostNumberOfCompletedPackets: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.40.
    package static let definition = command(.hostNumberOfCompletedPackets, "Num_Handles", Self.init) {
        $0.completed
    }
    /// None, unless a parameter is wrong.
    package static let answer = HCIAnswer.none

    /// For each connection the packets since the last time; at most 63 fit.
    package var completed: [CompletedPackets]

    /// Frees the buffers of `completed` packets.
    package init(completed: [CompletedPackets]) { self.completed = completed }
}

/// Informs a dual-mode controller whether the host supports Low Energy.
package struct WriteLEHostSupport: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.79.
    package static let definition = command(.writeLEHostSupport, "LE_Supported_Host, Unused", Self.init) {
        ($0.isSupported, $0.unused)
    }

    /// Whether the host does Low Energy.
    package var isSupported: HCIFlag
    /// Once "simultaneous LE host"; zero.
    package var unused: UInt8

    /// Switches Low Energy on or off.
    package init(isSupported: HCIFlag, unused: UInt8 = 0) {
        (self.isSupported, self.unused) = (isSupported, unused)
    }
}

/// Reads back what `WriteLEHostSupport` wrote to a dual-mode controller.
package struct ReadLEHostSupport: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.78.
    package static let definition = command(.readLEHostSupport, "", Self.init) { _ in }

    package init() {}

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout("LE_Supported_Host, Unused", Self.init) {
            ($0.isSupported, $0.unused)
        }
        package static let packetName = "LE host support"

        /// Whether the host does Low Energy.
        package var isSupported: HCIFlag
        /// Once "simultaneous LE host"; zero.
        package var unused: UInt8

        package init(isSupported: HCIFlag, unused: UInt8 = 0) {
            (self.isSupported, self.unused) = (isSupported, unused)
        }
    }
}
