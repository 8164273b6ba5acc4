import BLECore

/// Resets the controller to its state after power-on.
package struct Reset: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.2.
    package static let definition = command(.reset, "", Self.init) { _ in }

    package init() {}
}

/// Selects the events that the controller can send.
package struct SetEventMask: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.1.
    package static let definition = command(.setEventMask, "Event_Mask", Self.init) { $0.mask }

    package var mask: HCIEventMask

    /// Creates a command that enables the events in `mask`.
    package init(mask: HCIEventMask) { self.mask = mask }
}

/// Selects the events with codes from 0x40 on that the controller can send.
package struct SetEventMaskPage2: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.69.
    package static let definition = command(.setEventMaskPage2, "Event_Mask_Page_2", Self.init) { $0.mask }

    package var mask: HCIEventMaskPage2

    /// Creates a command that enables the events in `mask`.
    package init(mask: HCIEventMaskPage2) { self.mask = mask }
}

/// Enables flow control from controller to host: the controller waits for Host Number Of Completed Packets
/// before it sends more packets than the host can buffer.
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

    /// The kinds of data that are under flow control.
    package var kinds: Kinds

    /// Creates a command that enables flow control for `kinds` of data.
    package init(kinds: Kinds) { self.kinds = kinds }
}

/// Reports the host's buffers to the controller.
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

    /// The maximum number of data octets in an ACL packet, without its header.
    package var aclLength: UInt16
    /// The maximum number of data octets in a synchronous packet, without its header.
    package var synchronousLength: UInt8
    /// The number of ACL packets that the host can buffer.
    package var aclPackets: UInt16
    /// The number of synchronous packets that the host can buffer.
    package var synchronousPackets: UInt16

    package init(
        aclLength: UInt16, synchronousLength: UInt8 = 0, aclPackets: UInt16, synchronousPackets: UInt16 = 0
    ) {
        (self.aclLength, self.synchronousLength) = (aclLength, synchronousLength)
        (self.aclPackets, self.synchronousPackets) = (aclPackets, synchronousPackets)
    }
}

/// Reports to the controller that buffers of the host are free again. The host can send it at any time, and
/// the controller answers only if a parameter is wrong.
package struct HostNumberOfCompletedPackets: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.40.
    package static let definition = command(.hostNumberOfCompletedPackets, "Num_Handles", Self.init) {
        $0.completed
    }
    /// No answer, unless a parameter is wrong.
    package static let answer = HCIAnswer.none

    /// The packets of each connection since the last such command; at most 63 entries fit.
    package var completed: [CompletedPackets]

    /// Creates a command that frees the buffers of `completed` packets.
    package init(completed: [CompletedPackets]) { self.completed = completed }
}

/// Sets in a dual-mode controller whether the host supports Low Energy.
package struct WriteLEHostSupport: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.79.
    package static let definition = command(.writeLEHostSupport, "LE_Supported_Host, Unused", Self.init) {
        ($0.isSupported, $0.unused)
    }

    /// Whether the host supports Low Energy.
    package var isSupported: HCIFlag
    /// The former "Simultaneous LE Host" parameter; zero.
    package var unused: UInt8

    /// Creates a command that enables or disables Low Energy support.
    package init(isSupported: HCIFlag, unused: UInt8 = 0) {
        (self.isSupported, self.unused) = (isSupported, unused)
    }
}

/// Reads the value that `WriteLEHostSupport` wrote to a dual-mode controller.
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

        /// Whether the host supports Low Energy.
        package var isSupported: HCIFlag
        /// The former "Simultaneous LE Host" parameter; zero.
        package var unused: UInt8

        package init(isSupported: HCIFlag, unused: UInt8 = 0) {
            (self.isSupported, self.unused) = (isSupported, unused)
        }
    }
}
