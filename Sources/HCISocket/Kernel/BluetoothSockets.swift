import BLECore
import CLinux
import Glibc
import SystemPackage

/// The kernel's HCI sockets. All of them carry whole packets; raw sockets use the H4 form, with the type
/// octet first.
package enum HCISockets {
    /// The buffer size for any HCI packet with its type octet. ACL data has at most 65,535 octets, but Linux
    /// delivers no more than its own buffers hold.
    static let maximumPacket = 4096

    /// Opens a raw socket on adapter `index`. It sends commands in addition to the kernel's own, and receives
    /// all events and the commands of the kernel and of other processes. Sending commands requires
    /// CAP_NET_RAW.
    package static func raw(_ index: UInt16, on loop: EventLoop) throws(PortError) -> PacketSocket {
        let descriptor = try open(index, channel: HCI_CHANNEL_RAW)
        return try Sockets.closing(descriptor) { () throws(PortError) in
            // Sixteen octets: the struct with its padding. Any other size is EINVAL, and the default filter
            // passes nothing.
            let filter = hci_filter(
                type_mask: 1 << UInt32(HCI_EVENT_PKT) | 1 << UInt32(HCI_COMMAND_PKT),
                event_mask: (.max, .max), opcode: 0)
            assert(MemoryLayout<hci_filter>.stride == 16)
            var padded = [UInt8](repeating: 0, count: MemoryLayout<hci_filter>.stride)
            withUnsafeBytes(of: filter) { source in padded.replaceSubrange(0..<source.count, with: source) }
            let result = padded.withUnsafeBytes {
                setsockopt(descriptor, SOL_HCI, HCI_FILTER, $0.baseAddress, socklen_t($0.count))
            }
            guard result == 0 else { throw .system(.current, during: "setsockopt HCI_FILTER") }
            Sockets.setReceiveMemory(descriptor, to: receiveMemory)
            return PacketSocket(
                descriptor, on: loop, maximumPacket: maximumPacket, gathersReports: true)
        }
    }

    /// The receive buffer size of sockets, because packets that do not fit are lost. It holds some 2,700 short
    /// packets for a process that does not read them.
    private static let receiveMemory: CInt = 1 << 20

    /// Opens the user channel of adapter `index`. The kernel releases the controller, and only this socket
    /// receives its packets. Requires CAP_NET_ADMIN and an adapter that is down (otherwise EBUSY) and whose
    /// user channel no other socket has open (otherwise EUSERS). Closing the socket returns the controller to
    /// the kernel, down.
    package static func user(_ index: UInt16, on loop: EventLoop) throws(PortError) -> PacketSocket {
        let descriptor = try open(index, channel: HCI_CHANNEL_USER)
        // The data of all links arrives here, too.
        Sockets.setReceiveMemory(descriptor, to: receiveMemory)
        return PacketSocket(descriptor, on: loop, maximumPacket: maximumPacket, gathersReports: true)
    }

    /// Returns the state of adapter `index` in the kernel's own table, even if management does not list the
    /// adapter. Requires no capability.
    package static func device(_ index: UInt16) throws(PortError) -> HCIDeviceState {
        let descriptor = try Sockets.open(AF_BLUETOOTH, CLINUX_SOCK_RAW, BTPROTO_HCI)
        defer { Glibc.close(descriptor) }
        var information = hci_dev_info()
        information.dev_id = index
        guard ioctl(descriptor, CLINUX_HCIGETDEVINFO, &information) == 0 else {
            throw .system(.current, during: "ioctl HCIGETDEVINFO")
        }
        let address = withUnsafeBytes(of: information.bdaddr.b) { octets in
            UInt64(littleEndian: octets)
        }
        // HCI_UP is the first flag.
        return HCIDeviceState(address: address, isUp: information.flags & 1 != 0)
    }

    /// Opens the management socket. Reading requires no capability; changes require CAP_NET_ADMIN.
    package static func control(on loop: EventLoop) throws(PortError) -> PacketSocket {
        let descriptor = try open(UInt16(HCI_DEV_NONE), channel: HCI_CHANNEL_CONTROL)
        Sockets.setReceiveMemory(descriptor, to: receiveMemory)
        // By default the socket accepts packets of up to 1,028 octets, as any HCI socket does: the keys of
        // some fourteen bonds. Before Linux 5.16 this limit cannot be raised.
        var limit = 1028
        if (try? Sockets.set(descriptor, SOL_BLUETOOTH, BT_SNDMTU, to: UInt16.max, "BT_SNDMTU")) != nil {
            limit = Int(UInt16.max)
        }
        return PacketSocket(descriptor, on: loop, maximumPacket: maximumPacket, maximumSent: limit)
    }

    /// Opens the monitor socket, which receives all packets of every adapter, each after a header of opcode,
    /// index and length. Requires CAP_NET_RAW.
    package static func monitor(on loop: EventLoop) throws(PortError) -> PacketSocket {
        let descriptor = try open(UInt16(HCI_DEV_NONE), channel: HCI_CHANNEL_MONITOR)
        Sockets.setReceiveMemory(descriptor, to: receiveMemory)
        // The monitor also shows the traffic of management sockets.
        return PacketSocket(descriptor, on: loop, maximumPacket: 6 + Int(UInt16.max), batch: 1 << 21)
    }

    private static func open(_ index: UInt16, channel: CInt) throws(PortError) -> CInt {
        let descriptor = try Sockets.open(AF_BLUETOOTH, CLINUX_SOCK_RAW, BTPROTO_HCI)
        return try Sockets.closing(descriptor) { () throws(PortError) in
            let address = sockaddr_hci(
                hci_family: sa_family_t(AF_BLUETOOTH), hci_dev: index, hci_channel: UInt16(channel))
            try Sockets.bind(descriptor, to: address)
            return descriptor
        }
    }
}

/// The state of an adapter in the kernel's table of HCI devices.
package struct HCIDeviceState: Hashable, Sendable {
    /// The public address; all zeros before the kernel has read it from the controller.
    package var address: UInt64
    /// Whether the transport to the controller is open, by the kernel or by a user channel.
    package var isUp: Bool

    package init(address: UInt64, isUp: Bool) { (self.address, self.isUp) = (address, isUp) }
}
