import BLECore
import CLinux
import Glibc
import HCI
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

/// The error with which this kernel refuses Bluetooth sockets; nil if it supports them, as in the lab.
private let refusal: Errno? = {
    let descriptor = socket(AF_BLUETOOTH, CInt(SOCK_RAW.rawValue), BTPROTO_HCI)
    guard descriptor >= 0 else { return Errno(rawValue: errno) }
    close(descriptor)
    return nil
}()

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let phone = DeviceAddress(0x0011_2233_4455, type: .public)

struct BluetoothSocketsTests {
    /// All functions that open a Bluetooth socket of the kernel.
    private static let openers: [(String, @Sendable (EventLoop) throws -> Void)] = [
        ("raw", { _ = try HCISockets.raw(0, on: $0) }),
        ("user", { _ = try HCISockets.user(0, on: $0) }),
        ("device", { _ in _ = try HCISockets.device(0) }),
        ("control", { _ = try HCISockets.control(on: $0) }),
        ("monitor", { _ = try HCISockets.monitor(on: $0) }),
        ("listen", { _ = try L2CAPSockets.listen(at: phone, on: $0) { _ in } }),
        ("connect", { _ = try L2CAPSockets.connect(from: phone, to: lamp, on: $0) { _ in } }),
    ]

    @Test(
        "a kernel without Bluetooth throws a typed error that names the call", .enabled(if: refusal != nil))
    func missingBluetoothSupportNamesCall() async throws {
        let error = PortError.system(try #require(refusal), during: "socket")
        try await onVirtualLoop { loop in
            for (name, open) in Self.openers {
                #expect(throws: error, Comment(rawValue: name)) { try open(loop) }
            }
        }
    }

    @Test("L2CAP addresses have reversed octets, a type numbered after BR/EDR, and the channel")
    func l2capAddressesRoundTrip() {
        for (address, type, octets) in [
            (lamp, 2, [6, 5, 4, 3, 2, 0xc1]), (phone, 1, [0x55, 0x44, 0x33, 0x22, 0x11, 0]),
        ] as [(DeviceAddress, UInt8, [UInt8])] {
            let name = sockaddr_l2(address, channel: 4)
            #expect(name.l2_family == sa_family_t(AF_BLUETOOTH))
            #expect(name.l2_bdaddr_type == type)
            #expect(UInt16(littleEndian: name.l2_cid) == 4)
            #expect(name.l2_psm == 0)
            #expect(withUnsafeBytes(of: name.l2_bdaddr) { Array($0) } == octets)
            #expect(DeviceAddress(name) == address)
        }
    }

    @Test("L2CAP options on another kind of socket throw typed errors that name the option")
    func l2capOptionsOnOtherSocketsFail() async throws {
        try await onVirtualLoop { loop in
            let (near, far) = socketPair(.packets)
            defer { close(far) }
            let port = PacketSocket(near, on: loop, maximumPacket: 64)
            defer { port.close() }
            let calls: [(String, () throws -> Void)] = [
                ("getsockopt BT_SECURITY", { _ = try port.security() }),
                ("setsockopt BT_SECURITY", { try port.require(.encrypted) }),
                ("getsockopt L2CAP_CONNINFO", { _ = try port.connectionHandle() }),
            ]
            for (name, call) in calls {
                let error = #expect(throws: PortError.self) { try call() }
                guard case .system(let number, let during)? = error else { continue }
                #expect(during == name)
                #expect(number == Errno(rawValue: EOPNOTSUPP))
            }
        }
    }
}
