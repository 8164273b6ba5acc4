import BLECore
import Foundation
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// The selection of one adapter among several, by each of its names.
@Suite(.timeLimit(.minutes(10))) struct SeveralAdaptersTests {
    private typealias Name = AdapterSpecification.KernelAdapter

    private static let first = DeviceAddress(0x00aa_0100_0010, type: .public)
    private static let second = DeviceAddress(0x00aa_0100_0011, type: .public)

    /// Creates a folder in which the kernel shows the USB ports of these adapters.
    private static func folder(_ ports: [UInt16: String]) throws -> StateFolder {
        let folder = try StateFolder()
        let adapters = folder.path + "/sys/class/bluetooth"
        try FileManager.default.createDirectory(atPath: adapters, withIntermediateDirectories: true)
        for (index, port) in ports {
            let bus = "../../devices/pci0000:00/0000:00:14.0/usb1/\(port)/\(port):1.0/bluetooth"
            try FileManager.default.createSymbolicLink(
                atPath: "\(adapters)/hci\(index)", withDestinationPath: "\(bus)/hci\(index)")
        }
        return folder
    }

    /// Runs `body` with a kernel that lists three adapters and does not list two. hci0 and hci1 come before
    /// the adapter that works. hci2 and hci3 are only in the system files and in the kernel's table.
    private func run(
        _ body: @escaping @Sendable (FakeKernel, AdapterOptions) async throws -> Void
    ) async throws {
        let folder = try Self.folder([
            0: "1-1.4", 1: "1-7", 2: "1-2", 3: "1-3", FakeKernel.index: "1-1.3",
        ])
        try await VirtualTestbed.run { bed in
            let controller = await bed.air.attach(.init(publicAddress: FakeKernel.address))
            let kernel = try FakeKernel(controller, on: bed.loop, extended: false, isOff: false)
            kernel.files = SystemFiles(root: folder.path)
            kernel.neighbors = [0: Self.first, 1: Self.second]
            kernel.unlisted = [
                2: HCIDeviceState(address: 0x00aa_0100_0012, isUp: true),
                3: HCIDeviceState(address: 0, isUp: false),
            ]
            var options = AdapterOptions(loop: bed.loop)
            options.kernel = kernel
            try await body(kernel, options)
        }
        withExtendedLifetime(folder) {}
    }

    @Test("all adapters are listed in order with their USB port and availability")
    func listsAdaptersInOrder() async throws {
        try await run { kernel, options in
            let management = try await KernelManagement.open(kernel, on: options.loop)
            let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
            kernel.othersLinks = [lamp]
            let all = try await AdapterDescription.all(of: management)
            await management.close()
            #expect(all.last?.links == [lamp])
            #expect(all.map(\.index) == [0, 1, 2, 3, FakeKernel.index])
            #expect(all.map(\.usbPort) == ["1-1.4", "1-7", "1-2", "1-3", "1-1.3"])
            #expect(all.map(\.availability) == [.available, .available, .taken, .notSetUp, .available])
            #expect(
                all.map(\.address.value) == [
                    Self.first.value, Self.second.value, 0x00aa_0100_0012, 0, FakeKernel.address.value,
                ])
            // Each name is the name of exactly one adapter.
            for (number, one) in all.enumerated() {
                let names = [Name.index(one.index), .usb(one.usbPort ?? ""), .address(one.address.value)]
                for name in names {
                    let named = all.indices.filter { name.names(all[$0]) }
                    #expect(named == [number], "\(name)")
                }
            }
        }
    }

    /// The kernel reports the removal of an adapter from its list before the adapter is in use, and nothing
    /// afterwards.
    @Test("an adapter that a process takes for itself is reported as taken without an event of the kernel")
    func takenAdapterIsReportedWithoutEvent() async throws {
        try await run { kernel, options in
            kernel.unlisted[3] = HCIDeviceState(address: 0x00aa_0100_0013, isUp: false)
            var changes = try await Adapter.changes(of: kernel, on: options.loop).makeAsyncIterator()
            for index in [0, 1, 2, 3, FakeKernel.index] {
                guard case .added(let one) = try await changes.next() else {
                    Issue.record("no adapter was added")
                    return
                }
                #expect(one.index == index)
                if index == 3 { #expect(one.availability == .notSetUp) }
            }
            _ = await options.loop.sleep(for: .seconds(2))
            kernel.unlisted[3]?.isUp = true
            guard case .changed(let one) = try await changes.next() else {
                Issue.record("no adapter has changed")
                return
            }
            #expect(one.index == 3 && one.availability == .taken)

            // When each adapter has its final state, the table is not read again.
            let reads = kernel.deviceReads
            _ = await options.loop.sleep(for: .seconds(600))
            #expect(kernel.deviceReads == reads)
        }
    }

    @Test("an adapter whose change the kernel could not report is reported as changed after the loss")
    func lostChangeIsReported() async throws {
        try await run { kernel, options in
            var changes = try await Adapter.changes(of: kernel, on: options.loop).makeAsyncIterator()
            for _ in 0..<5 { _ = try await changes.next() }
            kernel.isOverflowing = true
            kernel.switchPower(false)
            _ = await options.loop.sleep(for: .milliseconds(500))
            kernel.isOverflowing = false
            guard case .changed(let one) = try await changes.next() else {
                Issue.record("no adapter has changed")
                return
            }
            #expect(one.index == FakeKernel.index && !one.isPowered)
        }
    }

    @Test("an adapter that stays without its setup is looked at five more times")
    func adapterWithoutSetupIsReadFiveTimesMore() async throws {
        try await run { kernel, options in
            let changes = try await Adapter.changes(of: kernel, on: options.loop)
            _ = await options.loop.sleep(for: .milliseconds(500))
            let first = kernel.deviceReads
            _ = await options.loop.sleep(for: .seconds(600))
            // Each look reads hci2 and hci3.
            #expect(kernel.deviceReads == first + 2 * 5)
            withExtendedLifetime(changes) {}
        }
    }

    @Test(
        "the named adapter is opened, not the first one",
        arguments: [
            .index(FakeKernel.index), .address(FakeKernel.address.value), .usb("1-1.3"),
        ] as [AdapterSpecification.KernelAdapter])
    func opensNamedAdapter(name: AdapterSpecification.KernelAdapter) async throws {
        try await run { _, options in
            let adapter = try await Adapter.open(.kernel(name), options: options)
            #expect(adapter.name == "hci\(FakeKernel.index)")
            #expect(await adapter.address == FakeKernel.address)
            await adapter.close()
        }
    }

    @Test("a process uses two kernel adapters at once, and one remains when the other is unplugged")
    func processUsesTwoAdapters() async throws {
        try await VirtualTestbed.run { bed in
            var kernels: [FakeKernel] = []
            for number in 0..<2 {
                let address = DeviceAddress(FakeKernel.address.value + UInt64(number), type: .public)
                let controller = await bed.air.attach(.init(publicAddress: address, extended: .init()))
                kernels.append(
                    try FakeKernel(
                        controller, on: bed.loop, extended: true, isOff: false,
                        index: FakeKernel.index + UInt16(number), address: address))
            }
            var options = AdapterOptions(loop: bed.loop)
            options.kernel = JoinedKernels(kernels)
            let server = try await Adapter.open(.kernel(.index(kernels[0].index)), options: options)
            let client = try await Adapter.open(
                .kernel(.address(kernels[1].address.value)), options: options)
            #expect(await server.address == kernels[0].address)
            #expect(await client.address == kernels[1].address)

            try await server.serve([7])
            let device = try await client.connect(to: server)
            #expect(try await device.read(try await device.sample()) == [7])

            kernels[0].unplug()
            let removed = await failure { () throws(BLEError) in
                try await PeripheralManager(server).publish([])
            }
            #expect(removed == .adapter(.removed))
            _ = try await device.disconnection()
            let other = try await bed.host("other", extended: true)
            try await other.serve([8])
            let second = try await client.connect(to: other)
            #expect(try await second.read(try await second.sample()) == [8])
            for adapter in [other, client, server] { await adapter.close() }
        }
    }

    @Test(
        "an unlisted adapter is not confused with another one",
        arguments: [
            (.usb("1-2"), .inUse(.userChannel([]))), (.address(0x00aa_0100_0012), .inUse(.userChannel([]))),
            (.usb("1-3"), .notSetUp(3)), (.index(3), .notSetUp(3)),
            // A prefix of another adapter's port.
            (.usb("1-1"), .missing(.kernel(.usb("1-1")))), (.index(4), .missing(.kernel(.index(4)))),
        ] as [(AdapterSpecification.KernelAdapter, AdapterProblem)])
    func refusesUnlistedAdapter(name: AdapterSpecification.KernelAdapter, problem: AdapterProblem)
        async throws
    {
        try await run { kernel, options in
            let error = await failure { () throws(BLEError) in
                _ = try await Adapter.open(.kernel(name), options: options)
            }
            #expect(error == .adapter(problem))
            _ = await options.loop.sleep(for: .seconds(1))
            #expect(kernel.openSockets == 0)
        }
    }
}
