import BLECore
import Foundation
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Adapters that use a random static address in place of their public one. Management still reports the
/// public address.
@Suite(.timeLimit(.minutes(10))) struct KernelIdentityTests {
    private static let identity = DeviceAddress(0xc011_2233_4455, type: .random)

    /// Creates a folder with the file in which the kernel shows that identity of an adapter.
    private static func folder(of index: UInt16) throws -> StateFolder {
        let folder = try StateFolder()
        let file = URL(fileURLWithPath: folder.path + SystemFiles.identityFile(of: index))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let text = "C0:11:22:33:44:55 (type 1) 00112233445566778899aabbccddeeff 00:00:00:00:00:00\n"
        try Data(text.utf8).write(to: file)
        return folder
    }

    /// Returns an adapter as management reports it, with the public address 00:AA:01:00:00:42.
    private func adapter(_ settings: Management.Settings) throws -> KernelManagement.KnownAdapter {
        var octets: [UInt8] = [0x42, 0x00, 0x00, 0x01, 0xaa, 0x00, 12, 0xff, 0xff]
        for each in [Management.Settings(rawValue: 0xffff), settings] {
            octets += (0..<4).map { UInt8(truncatingIfNeeded: each.rawValue >> (8 * $0)) }
        }
        // Class of device, name and short name.
        octets += [UInt8](repeating: 0, count: 3 + 249 + 11)
        return KernelManagement.KnownAdapter(index: 3, information: try Management.Information(octets))
    }

    @Test("the identity is the public address, or the static address if it is set and readable")
    func identityIsPublicOrStaticAddress() async throws {
        let folder = try Self.folder(of: 3)
        let files = SystemFiles(root: folder.path)
        let usual = try adapter([.powered, .lowEnergy])
        let publicAddress = try usual.identity(files)
        #expect(publicAddress == DeviceAddress(0x00aa_0100_0042, type: .public))
        let random = try adapter([.powered, .lowEnergy, .staticAddress])
        let staticAddress = try random.identity(files)
        #expect(staticAddress == Self.identity)
        let error = await failure { () throws(BLEError) in
            _ = try random.identity(SystemFiles(root: "/nonexistent"))
        }
        #expect(error == .unknownIdentity(path: SystemFiles.identityFile(of: 3)))
        withExtendedLifetime(folder) {}
    }

    @Test("links of an adapter with a static address are accepted at that address", arguments: [false, true])
    func linksUseStaticAddress(isExtended: Bool) async throws {
        let folder = try Self.folder(of: FakeKernel.index)
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(
                .init(publicAddress: FakeKernel.address, extended: isExtended ? .init() : nil))
            let kernel = try FakeKernel(controller, on: bed.loop, extended: isExtended, isOff: false)
            kernel.settings.insert(.staticAddress)
            (kernel.files, kernel.identity) = (SystemFiles(root: folder.path), Self.identity)
            kernel.emit(LESetRandomAddress(address: Self.identity))
            var options = AdapterOptions(loop: bed.loop)
            options.kernel = kernel
            let adapter = try await Adapter.open(.kernel(.index(FakeKernel.index)), options: options)
            #expect(await adapter.address == Self.identity)
            try await adapter.serve([7])
            #expect(kernel.listening == [Self.identity])
            let other = try await bed.host("other", extended: isExtended)
            let device = try await other.connect(to: adapter)
            #expect(try await device.read(try await device.sample()) == [7])
            await device.disconnect()
            await adapter.close()
            #expect(kernel.listening == [])
        }
        withExtendedLifetime(folder) {}
    }

    @Test("an adapter whose static address cannot be read is not opened")
    func unreadableStaticAddressFailsOpen() async throws {
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(.init(publicAddress: FakeKernel.address))
            let kernel = try FakeKernel(controller, on: bed.loop, extended: false, isOff: true)
            kernel.settings.insert(.staticAddress)
            var options = AdapterOptions(loop: bed.loop)
            options.kernel = kernel
            let error = await failure { () throws(BLEError) in
                _ = try await Adapter.open(.kernel(.index(FakeKernel.index)), options: options)
            }
            #expect(error == .unknownIdentity(path: SystemFiles.identityFile(of: FakeKernel.index)))
            await bed.wait(.seconds(1))
            #expect(kernel.commands == [] && kernel.openSockets == 0)
        }
    }
}
