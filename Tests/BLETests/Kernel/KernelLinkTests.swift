import ATT
import BLECore
import GATTClient
import GATTServer
import Glibc
import HCI
import HCISocket
import SystemPackage
import Testing
import VirtualController

@testable import BLE

/// Links that the kernel carries, in both roles, and the effects of commands of the kernel and other programs.
@Suite(.timeLimit(.minutes(10))) struct KernelLinkTests {
    @Test(
        "each central is served and reported as connected and disconnected",
        arguments: [false, true])
    func centralsAreServedAndReported(isExtended: Bool) async throws {
        try await KernelHost.run(extended: isExtended) { host in
            let events = PeripheralManager(host.adapter).events()
            try await host.adapter.serve([7])
            let other = try await host.other()
            for _ in 0..<2 {
                let device = try await other.connect(to: host.adapter)
                #expect(try await device.read(try await device.sample()) == [7])
                await device.disconnect()
            }
            await other.close()
            await host.wait(.seconds(1))
            var shown: [String] = []
            for try await event in events {
                switch event {
                case .connected(let central, _):
                    #expect(central.address == (await other.address))
                    shown.append("connected")
                case .disconnected(_, let reason, _):
                    shown.append("\(reason)")
                default: continue
                }
                if shown.count == 4 { break }
            }
            let reason = "\(DisconnectReason.status(.remoteUserTerminatedConnection))"
            #expect(shown == ["connected", reason, "connected", reason])
        }
    }

    @Test("an outgoing connection reads and reports why it ended", arguments: [false, true])
    func outgoingConnectionReportsReason(isExtended: Bool) async throws {
        try await KernelHost.run(extended: isExtended) { host in
            let other = try await host.other()
            try await other.serve([9])
            let device = try await host.adapter.connect(to: other)
            #expect(try await device.read(try await device.sample()) == [9])
            await other.close()
            #expect(try await device.disconnection() == .status(.remoteUserTerminatedConnection))
        }
    }

    @Test("the data length of a kernel link is set with the connection's handle")
    func dataLengthOfKernelLinkIsSet() async throws {
        try await KernelHost.run { host in
            let other = try await host.other()
            try await other.serve([9])
            let device = try await host.adapter.connect(to: other)
            var changes = device.connection.changes().makeAsyncIterator()
            await host.wait(.seconds(1))
            try await device.connection.setDataLength(100)
            let lengths = try #require(try await changes.next()?.dataLengths)
            #expect(lengths.transmit == DataLength(octets: 100, time: 912))
            #expect(try await device.read(try await device.sample()) == [9])
            await other.close()
        }
    }

    @Test("a channel that cannot be used makes no link, in either role")
    func brokenChannelMakesNoLink() async throws {
        try await KernelHost.run { host in
            let events = PeripheralManager(host.adapter).events()
            try await host.adapter.serve([7])
            let other = try await host.other()
            try await other.serve([9])
            host.kernel.brokenChannels = 1
            let unusable = await failure { () throws(BLEError) in
                _ = try await CentralManager(host.adapter).connect(to: await other.address)
            }
            #expect(unusable == .connectFailed(.errno(Errno.tooManyOpenFiles.rawValue)))
            // The kernel keeps the link for 2 s.
            await host.wait(.seconds(3))
            // The other host connects once more, without the exchange of the MTU.
            host.kernel.brokenChannels = 2
            let lost = await failure { () throws(BLEError) in
                let device = try await CentralManager(other).connect(to: await host.adapter.address)
                _ = try await device.discover()
            }
            #expect(lost == .disconnected(.status(.remoteUserTerminatedConnection)))
            await host.wait(.seconds(3))
            #expect(await host.adapter.linkCount == 0)
            let served = try await other.connect(to: host.adapter)
            #expect(try await served.read(try await served.sample()) == [7])
            await served.disconnect()
            await host.wait(.seconds(3))
            var shown: [String] = []
            for try await event in events {
                switch event {
                case .connected: shown.append("connected")
                case .disconnected: shown.append("disconnected")
                default: continue
                }
                if shown.count == 2 { break }
            }
            #expect(shown == ["connected", "disconnected"])
        }
    }

    @Test("a link does not end with the reason of an earlier link with its handle")
    func reusedHandleKeepsNoOldReason() async throws {
        try await KernelHost.run { host in
            let other = try await host.other()
            try await other.serve([9])
            let address = await other.address
            let first = try await host.adapter.connect(to: other)
            let last = try #require(host.kernel.socket(to: address)).connectionHandle()
            await first.disconnect()
            await host.wait(.seconds(3))
            // A link of another program with the next handle ends.
            let handle = ConnectionHandle(rawValue: last.rawValue + 1)
            host.kernel.emit(DisconnectionComplete(connection: handle, reason: .connectionTimeout).packet)
            await host.wait(.seconds(1))
            let second = try await host.adapter.connect(to: other)
            let socket = try #require(host.kernel.socket(to: address))
            #expect(socket.connectionHandle() == handle)
            socket.lose()
            #expect(try await second.disconnection() == .errno(Errno.connectionReset.rawValue))
        }
    }

    @Test("a link keeps its disconnect reason when its handle is reused before its channel ends")
    func reasonSurvivesHandleReuse() async throws {
        try await KernelHost.run { host in
            let other = try await host.other()
            try await other.serve([9])
            let device = try await host.adapter.connect(to: other)
            let socket = try #require(host.kernel.socket(to: await other.address))
            let handle = socket.connectionHandle()
            host.kernel.emit(DisconnectionComplete(connection: handle, reason: .connectionTimeout).packet)
            host.kernel.emit(
                LEConnectionComplete(
                    connection: handle, role: .peripheral,
                    peer: HCIAddress(DeviceAddress(7, type: .public)),
                    interval: ConnectionInterval(rawValue: 24), latency: 0,
                    supervisionTimeout: Centiseconds(rawValue: 100)
                ).packet)
            await host.wait(.milliseconds(1))
            socket.lose()
            #expect(try await device.disconnection() == .status(.connectionTimeout))
            #expect(await host.adapter.kernelLinks.lacksChannel(handle))
            await other.close()
        }
    }

    @Test("a central that this server disconnects is not reported as taken by another program")
    func centralDisconnectedByServerIsNotTaken() async throws {
        try await KernelHost.run { host in
            let peripheral = PeripheralManager(host.adapter)
            var events = peripheral.events().makeAsyncIterator()
            try await host.adapter.serve([7])
            let other = try await host.other()
            _ = try await other.connect(to: host.adapter)
            guard case .connected(let central, _)? = try await events.next() else {
                throw BLEError.notFound(.device(within: nil))
            }
            await host.wait(.seconds(1))
            await peripheral.disconnect(central)
            await host.wait(.seconds(10))
            #expect(host.health == [])
            await other.close()
        }
    }

    @Test("a central whose controller supports no parameter request refuses new parameters")
    func centralWithoutParameterRequestRefuses() async throws {
        try await KernelHost.run { host in
            let peripheral = PeripheralManager(host.adapter)
            var events = peripheral.events().makeAsyncIterator()
            try await host.adapter.serve([7])
            let other = try await host.other()
            _ = try await other.connect(to: host.adapter)
            guard case .connected(let central, _)? = try await events.next() else {
                throw BLEError.notFound(.device(within: nil))
            }
            let socket = try #require(host.kernel.socket(to: central.address))
            host.port.script(
                .leConnectionUpdate,
                .sends([
                    CommandStatus(status: .success, opcode: .leConnectionUpdate).packet,
                    LEConnectionUpdateComplete(
                        status: .unsupportedRemoteFeature, connection: socket.connectionHandle(),
                        interval: ConnectionInterval(rawValue: 24), latency: 0,
                        supervisionTimeout: Centiseconds(rawValue: 100)
                    ).packet,
                ]))
            let error = await failure { () throws(BLEError) in
                try await peripheral.setDesiredConnectionLatency(.high, for: central)
            }
            #expect(error == .parametersRefused)
            await other.close()
        }
    }

    @Test(
        "only a central without a channel is reported as taken by another program"
    )
    func centralWithoutChannelIsTaken() async throws {
        try await KernelHost.run { host in
            var health = host.adapter.health().makeAsyncIterator()
            try await host.adapter.serve([7], maximumLinks: 3)
            let central = DeviceAddress(7, type: .public)
            _ = await host.link(
                to: central, over: KernelSocket(on: host.loop, handle: ConnectionHandle(0x40)))
            for handle in [0x40, 0x41] {
                host.kernel.emit(
                    LEConnectionComplete(
                        connection: ConnectionHandle(rawValue: UInt16(handle)), role: .peripheral,
                        peer: HCIAddress(central), interval: ConnectionInterval(rawValue: 24), latency: 0,
                        supervisionTimeout: Centiseconds(rawValue: 100)
                    ).packet)
            }
            guard case .centralTaken? = try await health.next() else {
                throw BLEError.notFound(.device(within: nil))
            }
            #expect(await !host.adapter.kernelLinks.lacksChannel(ConnectionHandle(0x40)))
            #expect(await host.adapter.kernelLinks.lacksChannel(ConnectionHandle(0x41)))
        }
    }

    @Test("advertising that is refused beside a foreign link resumes when that link ends")
    func advertisingResumesAfterForeignLink() async throws {
        try await KernelHost.run { host in
            let advertising = try await PeripheralManager(host.adapter).advertise(.beacon("ours"))
            let handle = ConnectionHandle(0x40)
            host.kernel.emit(
                LEConnectionComplete(
                    connection: handle, role: .central, peer: HCIAddress(DeviceAddress(7, type: .public)),
                    interval: ConnectionInterval(rawValue: 24), latency: 0,
                    supervisionTimeout: Centiseconds(rawValue: 100)
                ).packet)
            host.port.script(
                .leSetExtendedAdvertisingEnable,
                .refuses(.leSetExtendedAdvertisingEnable, .commandDisallowed))
            host.kernel.emit(LESetExtendedAdvertisingEnable(enable: false, sets: []))
            await host.wait(.seconds(600))
            host.port.removeRules()
            let watcher = CentralManager(try await host.other("watcher"))
            await host.wait(.seconds(1))
            host.kernel.emit(DisconnectionComplete(connection: handle, reason: .connectionTimeout).packet)
            _ = try await watcher.first(within: .seconds(5)) { $0.name == "ours" }
            await advertising.stop()
            await watcher.adapter.close()
        }
    }

    @Test("a refused command of another program leaves advertising on air")
    func refusedForeignCommandKeepsAdvertising() async throws {
        try await KernelHost.run { host in
            let advertising = try await PeripheralManager(host.adapter).advertise(.beacon("ours"))
            let enables = { host.port.opcodes.count { $0 == .leSetExtendedAdvertisingEnable } }
            let before = enables()
            let status = Lock<HCIStatus?>(nil)
            // The controller does not clear advertising sets while one of them is on air.
            host.kernel.emit(LEClearAdvertisingSets()) { answer in status.withLock { $0 = answer } }
            await host.wait(.seconds(5))
            #expect(status.withLock { $0 } == .commandDisallowed)
            #expect(enables() == before)
            await advertising.stop()
            #expect(enables() == before + 1)
        }
    }

    @Test("two connects to one device share the kernel's attempt and the link")
    func connectsShareAttemptAndLink() async throws {
        try await KernelHost.run { host in
            let other = try await host.other()
            let address = await other.address
            let connects = (0..<2).map { _ in
                Task(executorPreference: host.loop) { try await host.central.connect(to: address) }
            }
            await host.wait(.seconds(1))
            try await other.serve([9])
            let devices = [try await connects[0].value, try await connects[1].value]
            await devices[0].disconnect()
            #expect(try await devices[1].read(try await devices[1].sample()) == [9])
            #expect(await host.adapter.linkCount == 1)
            await devices[1].disconnect()
            #expect(await host.adapter.linkCount == 0)
            await other.close()
        }
    }

    @Test("a link whose end only its channel reports makes room for the next one")
    func linkEndsWithoutDisconnectionEvent() async throws {
        try await KernelHost.run { host in
            try await host.adapter.serve([7], maximumLinks: 1)
            let first = try await host.other("first")
            _ = try await first.connect(to: host.adapter)
            await host.wait(.seconds(1))
            // No event reports the end, even when the kernel ends the link two seconds later.
            host.kernel.missesDisconnections = true
            try #require(host.kernel.socket(to: await first.address)).lose()
            let second = try await host.other("second")
            let device = try await second.connect(to: host.adapter, timeout: .seconds(5))
            #expect(try await device.read(try await device.sample()) == [7])
            for adapter in [first, second] { await adapter.close() }
        }
    }

    @Test("a connect that times out leaves no link, and the next one works")
    func timedOutConnectLeavesNoState() async throws {
        try await KernelHost.run { host in
            let absent = DeviceAddress(0xc0ff_ee00_0001, type: .random)
            let central = host.central
            #expect(
                await failure { () throws(BLEError) in
                    _ = try await central.connect(to: absent, timeout: .seconds(5))
                } == .timedOut(.connecting, after: .seconds(5)))
            let other = try await host.other()
            try await other.serve()
            let device = try await host.adapter.connect(to: other, timeout: .seconds(5))
            await device.disconnect()
            await host.wait(.seconds(5))
            #expect(await host.adapter.linkCount == 0)
            await other.close()
        }
    }

    @Test("a connect continues beyond the kernel's own time limit")
    func connectOutlastsKernelTimeout() async throws {
        try await KernelHost.run { host in
            let other = try await host.other()
            let address = await other.address
            let connecting = Task(executorPreference: host.loop) {
                try await host.central.connect(to: address, timeout: .seconds(120))
            }
            await host.wait(.seconds(70))
            try await other.serve()
            let device = try await connecting.value
            #expect(try await device.read(try await device.sample()) == [1])
            await other.close()
        }
    }

    @Test(
        "advertising that the kernel pauses for a connection is resumed by this host",
        arguments: [false, true])
    func advertisingResumesDuringKernelConnection(isExtended: Bool) async throws {
        try await KernelHost.run(extended: isExtended) { host in
            let peer = try await host.other("peer")
            try await peer.serve()
            let advertising = try await PeripheralManager(host.adapter).advertise(.beacon("ours"))
            let watcher = try await host.other("watcher")
            let found = CentralManager(watcher)
            _ = try await found.first(within: .seconds(5)) { $0.name == "ours" }
            let device = try await host.adapter.connect(to: peer)
            await host.wait(.seconds(1))
            _ = try await found.first(within: .seconds(5)) { $0.name == "ours" }
            await device.disconnect()
            await host.wait(.seconds(1))
            _ = try await found.first(within: .seconds(5)) { $0.name == "ours" }
            await advertising.stop()
            for adapter in [peer, watcher] { await adapter.close() }
        }
    }

    @Test("with one link only one of two centrals connects, even when its channel arrives late")
    func singleLinkIsExclusiveUntilChannelArrives() async throws {
        try await KernelHost.run { host in
            host.kernel.acceptDelay = .milliseconds(10)
            try await host.adapter.serve(maximumLinks: 1)
            let others = [try await host.other("first"), try await host.other("second")]
            let address = await host.adapter.address
            let attempts = others.map { other in
                Task(executorPreference: host.loop) { () throws(BLEError) in
                    try await CentralManager(other).connect(to: address, timeout: .seconds(5))
                }
            }
            var connected: [Peripheral] = []
            for attempt in attempts {
                if case .success(let device) = await attempt.result { connected.append(device) }
            }
            #expect(connected.count == 1)
            for device in connected { await device.disconnect() }
            for other in others {
                let device = try await other.connect(to: host.adapter, timeout: .seconds(5))
                await device.disconnect()
                await other.close()
            }
        }
    }

    @Test("an unplugged adapter ends its links and scans as removed")
    func unpluggedAdapterEndsLinksAndScans() async throws {
        try await KernelHost.run { host in
            let other = try await host.other()
            try await other.serve()
            let device = try await host.adapter.connect(to: other)
            let scan = host.central.scan()
            let scanning = Task(executorPreference: host.loop) { () -> BLEError? in
                await failure { () throws(BLEError) in for try await _ in scan {} }
            }
            await host.wait(.seconds(1))
            host.kernel.unplug()
            #expect(await scanning.value == .adapter(.removed))
            #expect(
                await failure { () throws(BLEError) in _ = try await device.discover() }
                    == .adapter(.removed))
            await other.close()
        }
    }

    @Test("an adapter that another program powers off ends its scans as powered off")
    func poweredOffAdapterEndsScans() async throws {
        try await KernelHost.run { host in
            let scan = host.central.scan()
            let scanning = Task(executorPreference: host.loop) { () -> BLEError? in
                await failure { () throws(BLEError) in for try await _ in scan {} }
            }
            await host.wait(.seconds(1))
            host.kernel.switchPower(false)
            #expect(await scanning.value == .adapter(.poweredOff))
            #expect(host.powers == [])
        }
    }

    @Test("an adapter whose power-off the kernel could not report ends when the loss is reported")
    func lostPowerOffEndsScans() async throws {
        try await KernelHost.run { host in
            let scan = host.central.scan()
            let scanning = Task(executorPreference: host.loop) { () -> BLEError? in
                await failure { () throws(BLEError) in for try await _ in scan {} }
            }
            await host.wait(.seconds(1))
            host.kernel.isOverflowing = true
            host.kernel.switchPower(false)
            await host.wait(.seconds(1))
            #expect(await host.adapter.end == nil)
            host.kernel.isOverflowing = false
            #expect(await scanning.value == .adapter(.poweredOff))
        }
    }

    @Test("the second server on an adapter gets an error that names the first process")
    func secondServerIsRefused() async throws {
        try await KernelHost.run { host in
            try await PeripheralManager(host.adapter).publish([])
            var options = AdapterOptions(loop: host.loop)
            options.kernel = host.kernel
            let second = try await Adapter.open(.kernel(.index(FakeKernel.index)), options: options)
            let refusal = await failure { () throws(BLEError) in
                try await PeripheralManager(second).publish([])
            }
            #expect(refusal == .adapter(.inUse(.server(process: getpid()))))
            // The first adapter publishes again, and then closes.
            try await PeripheralManager(host.adapter).publish([])
            await host.adapter.close()
            try await second.serve([4])
            let other = try await host.other()
            let device = try await other.connect(to: second)
            #expect(try await device.read(try await device.sample()) == [4])
            await other.close()
            await second.close()
        }
    }

    @Test("a second process connecting to the same device gets a busy error")
    func secondProcessConnectingIsBusy() async throws {
        try await KernelHost.run { host in
            let other = try await host.other()
            try await other.serve()
            let address = await other.address
            var options = AdapterOptions(loop: host.loop)
            options.kernel = host.kernel
            let second = try await Adapter.open(.kernel(.index(FakeKernel.index)), options: options)
            let device = try await host.adapter.connect(to: other)
            #expect(
                await failure { () throws(BLEError) in
                    _ = try await CentralManager(second).connect(to: address, timeout: .seconds(5))
                } == .busy(address))
            // Closing the second adapter does not end the link of the first.
            await second.close()
            #expect(try await device.read(try await device.sample()) == [1])
            await other.close()
        }
    }
}
