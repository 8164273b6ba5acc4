import BLECore
import CLinux
import Glibc
import SystemPackage

/// A kernel L2CAP channel that carries ATT: CID 4 of one LE link. Both directions of ATT share it, and the
/// kernel allows only one per link.
package struct L2CAPChannel: Sendable {
    /// The channel's packets, each one an ATT PDU.
    package let port: any L2CAPSocket
    /// The device at the other end.
    package let peer: DeviceAddress

    package init(port: any L2CAPSocket, peer: DeviceAddress) {
        self.port = port
        self.peer = peer
    }
}

/// A connected L2CAP socket of the kernel.
package protocol L2CAPSocket: PacketPort {
    /// Returns the link's security level and the size of its key in octets, which is 0 without encryption.
    func security() throws(PortError) -> (level: SecurityLevel?, keySize: Int)

    /// Requests at least `level` from the kernel, which is higher than the link's level; the kernel pairs if
    /// necessary. Throws EINVAL if the kernel has no Security Manager for this link. Nothing is sent until
    /// the request has succeeded; then `writable` is called. The socket does not report a failure.
    func require(_ level: SecurityLevel) throws(PortError)

    /// Returns the HCI handle of the link, for commands on a raw socket.
    func connectionHandle() throws(PortError) -> ConnectionHandle

    /// Sends one packet. `isAwaited` is whether `sendState` counts it as awaited.
    func send(_ packet: Span<UInt8>, isAwaited: Bool)

    /// How many packets have been passed to the controller.
    var sendState: L2CAPSendState { get }

    /// Calls `departed` soon, and then whenever packets have been passed to the controller and less than half
    /// of the kernel's buffer is used. This ends when the port is closed or when this is called with nil.
    func watchDepartures(_ departed: (@Sendable () -> Void)?) throws(PortError)
}

/// How many of the packets that were sent on a socket have been passed to the controller. If the kernel does
/// not report it exactly, packets count as waiting.
package struct L2CAPSendState: Hashable, Sendable {
    /// The number of packets that wait, including one that the kernel has not accepted.
    package var waiting = 0
    /// The number of awaited packets among them.
    package var awaited = 0
    /// The number of awaited packets that have been passed on since the socket was opened.
    package var departed = 0

    package init(waiting: Int = 0, awaited: Int = 0, departed: Int = 0) {
        (self.waiting, self.awaited, self.departed) = (waiting, awaited, departed)
    }
}

/// The kernel's L2CAP sockets on the ATT channel.
package enum L2CAPSockets {
    private static let attChannel: UInt16 = 4
    /// The kernel's MTU on fixed channels; a shorter read would truncate a packet.
    private static let maximumPacket = 672
    /// The send buffer size of a link, in octets of kernel memory (of which the kernel reserves twice as
    /// many): some 80 short packets, or four of 517 octets in fragments of 27. The default is 277 packets,
    /// which can take a slow link half a minute.
    private static let sendMemory: CInt = 32_768
    /// The receive buffer size of a link. The kernel drops the packets that do not fit, among them Write
    /// Commands and notifications, of whose loss the sender is not informed. The size suffices for some 1,300
    /// short packets while the process is busy or stopped. The default is 277.
    private static let receiveMemory: CInt = 1 << 19

    /// Listens on the adapter whose identity address is `address`. The address type must match the adapter's
    /// exactly; otherwise no link arrives. Requires no capability. The newest listener on the machine
    /// receives the links.
    package static func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void
    ) throws(PortError) -> Listener {
        let descriptor = try bound(to: address)
        return try Sockets.closing(descriptor) { () throws(PortError) in
            try Sockets.listen(descriptor)
            return Listener(descriptor, on: loop) { listening throws(PortError) in
                var peer = sockaddr_l2()
                guard let link = try Sockets.accept(listening, peer: &peer) else { return nil }
                let channel = channel(over: link, to: DeviceAddress(peer), on: loop)
                return { accepted(channel) }
            }
        }
    }

    /// Connects from the adapter at `local` to `peer`. The kernel scans for the peer, and fails after its own
    /// limit of 20 s (ETIMEDOUT) unless the attempt is cancelled before. EBUSY means that another socket has
    /// the link's channel.
    package static func connect(
        from local: DeviceAddress, to peer: DeviceAddress, on loop: EventLoop,
        done: @escaping @Sendable (Result<L2CAPChannel, PortError>) -> Void
    ) throws(PortError) -> PendingConnection {
        let descriptor = try bound(to: local)
        _ = try Sockets.closing(descriptor) { () throws(PortError) in
            // The attempt may complete at once: a connected socket is writable, so the loop reports both
            // cases.
            try Sockets.connect(descriptor, to: sockaddr_l2(peer, channel: attChannel))
        }
        let pending = PendingConnection(descriptor, on: loop)
        try pending.start { result in
            done(result.map { channel(over: $0, to: peer, on: loop) })
        }
        return pending
    }

    private static func channel(
        over descriptor: CInt, to peer: DeviceAddress, on loop: EventLoop
    ) -> L2CAPChannel {
        // A kernel that rejects this size uses a larger buffer.
        try? Sockets.set(descriptor, SOL_SOCKET, SO_SNDBUF, to: sendMemory, "SO_SNDBUF")
        Sockets.setReceiveMemory(descriptor, to: receiveMemory)
        return L2CAPChannel(
            port: PacketSocket(descriptor, on: loop, maximumPacket: maximumPacket), peer: peer)
    }

    private static func bound(to address: DeviceAddress) throws(PortError) -> CInt {
        let descriptor = try Sockets.open(AF_BLUETOOTH, CLINUX_SOCK_SEQPACKET, BTPROTO_L2CAP)
        return try Sockets.closing(descriptor) { () throws(PortError) in
            try Sockets.bind(descriptor, to: sockaddr_l2(address, channel: attChannel))
            return descriptor
        }
    }
}

extension PacketSocket: L2CAPSocket {
    /// Reads the socket option BT_SECURITY; `level` is nil if the value is not a `SecurityLevel`.
    package func security() throws(PortError) -> (level: SecurityLevel?, keySize: Int) {
        var value = bt_security()
        try Sockets.get(descriptor, SOL_BLUETOOTH, BT_SECURITY, into: &value, "BT_SECURITY")
        return (SecurityLevel(rawValue: value.level), Int(value.key_size))
    }

    /// Requests a security level from the kernel, which raises that of the link if necessary.
    package func require(_ level: SecurityLevel) throws(PortError) {
        // The value has two octets; one octet is EINVAL.
        let value = bt_security(level: level.rawValue, key_size: 0)
        try Sockets.set(descriptor, SOL_BLUETOOTH, BT_SECURITY, to: value, "BT_SECURITY")
        expectRoom()
    }

    /// Returns the HCI handle of the link.
    package func connectionHandle() throws(PortError) -> ConnectionHandle {
        var information = l2cap_conninfo()
        try Sockets.get(descriptor, SOL_L2CAP, L2CAP_CONNINFO, into: &information, "L2CAP_CONNINFO")
        return ConnectionHandle(information.hci_handle)
    }
}

extension sockaddr_l2 {
    // BDADDR_LE_PUBLIC and BDADDR_LE_RANDOM follow BDADDR_BREDR, 0.
    init(_ address: DeviceAddress, channel: UInt16) {
        self.init()
        l2_family = sa_family_t(AF_BLUETOOTH)
        l2_cid = channel.littleEndian
        l2_bdaddr_type = address.type.rawValue + 1
        withUnsafeMutableBytes(of: &l2_bdaddr) { octets in
            octets.copyBytes(from: [UInt8](littleEndian: address.value).prefix(octets.count))
        }
    }
}

extension DeviceAddress {
    init(_ address: sockaddr_l2) {
        let value = withUnsafeBytes(of: address.l2_bdaddr) { octets in
            UInt64(littleEndian: octets)
        }
        self.init(value, type: address.l2_bdaddr_type == 1 ? .public : .random)
    }
}
