import BLECore
import HCI
import HCISocket
import SMP
import Testing
import VirtualController

@testable import BLE

/// The scan of a kernel adapter, where it must be distinguished from those of other programs.
@Suite(.timeLimit(.minutes(10))) struct KernelScanTests {
    /// Scans for `time`, and waits ten seconds more.
    private func scan(_ host: KernelHost, for time: Duration) async {
        let stream = host.central.scan()
        let following = Task(executorPreference: host.loop) { for try await _ in stream {} }
        _ = await host.loop.sleep(for: time)
        following.cancel()
        _ = await following.result
        _ = await host.loop.sleep(for: .seconds(10))
    }

    @Test("an own scan that was not stopped is not taken for another program's", arguments: [false, true])
    func unstoppedScanIsNotForeign(isSilent: Bool) async throws {
        try await KernelHost.run { host in
            let stream = host.central.scan()
            let following = Task(executorPreference: host.loop) { for try await _ in stream {} }
            _ = await host.loop.sleep(for: .seconds(1))
            host.port.script(
                .leSetExtendedScanEnable,
                isSilent ? .silence : .refuses(.leSetExtendedScanEnable, .hardwareFailure), times: 1)
            following.cancel()
            _ = await following.result
            _ = await host.loop.sleep(for: .seconds(10))
            #expect(await host.adapter.scansNothing)
            // Silent: on, off, and off again after the recovery. Refused: on, off.
            #expect(enables(host) == (isSilent ? 3 : 2))
            await scan(host, for: .seconds(1))
            // On and off, and before that off where it was refused.
            #expect(enables(host) == 5)
            #expect(await host.adapter.scansNothing)
        }
    }

    private func enables(_ host: KernelHost) -> Int {
        host.port.opcodes.count { $0 == .leSetExtendedScanEnable }
    }

    /// Starts a scan of the kernel for the devices of its list, with the interval and window of a scan of this host.
    private func lookForListed(_ host: KernelHost, isExtended: Bool, isActive: Bool) {
        let type: ScanType = isActive ? .active : .passive
        let slots = Slots(rawValue: 96)
        if isExtended {
            host.kernel.emit(
                LESetExtendedScanParameters(
                    filterPolicy: .acceptListOnly,
                    phys: PerPHY(le1M: .init(type: type, interval: slots, window: slots))))
            host.kernel.emit(LESetExtendedScanEnable(enable: true))
        } else {
            host.kernel.emit(
                LESetScanParameters(
                    type: type, interval: slots, window: slots, filterPolicy: .acceptListOnly))
            host.kernel.emit(LESetScanEnable(enable: true))
        }
    }

    @Test(
        "the kernel's accept list scan is stopped and this host's started, even if it is active",
        arguments: [false, true], [false, true])
    func replacesKernelAcceptListScan(isExtended: Bool, isActive: Bool) async throws {
        try await KernelHost.run(extended: isExtended) { host in
            lookForListed(host, isExtended: isExtended, isActive: isActive)
            await host.wait(.seconds(1))
            let reported = Lock<[String]>([])
            let monitor = try host.kernel.monitor(on: host.loop)
            try monitor.start(
                PacketPortHandlers(
                    receive: { frame in
                        guard let packet = try? MonitorPacket(frame), packet.opcode == .command else {
                            return
                        }
                        reported.withLock { $0.append(packet.body.hex) }
                    }, writable: {}, closed: { _ in }))
            let other = try await host.other()
            _ = try await PeripheralManager(other).advertise(.beacon("Unlisted"))
            _ = try await host.central.first(within: .seconds(5)) { $0.name == "Unlisted" }
            // Parameters without a filter. Of a command that enables a scan only the first octet of the
            // parameters matters.
            let (parameters, on, off) =
                isExtended
                ? ("412008" + "0000010160006000", "42200601", "42200600")
                : ("0b2007" + "01600060000000", "0c200201", "0c200200")
            let opcodes = ["0b20", "0c20", "4120", "4220"]
            let scanning = reported.withLock { $0 }.filter { opcodes.contains(String($0.prefix(4))) }
            let begun = scanning.prefix(4).map { $0 == parameters ? $0 : String($0.prefix(8)) }
            // The first parameters are refused while the kernel scans.
            #expect(begun == [parameters, off, parameters, on])
            monitor.close()
            await other.close()
        }
    }

    @Test("a hidden peer is resolved only while it is bonded")
    func hiddenPeerIsResolvedWhileBonded() async throws {
        var security = SecurityOptions()
        security.managesKernelPairing = true
        let store = BondStore()
        security.bonds = store
        try await KernelHost.run(security: security) { host in
            let other = try await Adapter.open(
                on: await host.air.attach(.init(extended: .init())), name: "other",
                options: AdapterOptions(loop: host.loop, privacy: .on))
            _ = try await PeripheralManager(other).advertise(.beacon("Hidden"))
            let (address, key) = (await other.address, await other.localIdentity.identityKey)
            func identity(_ options: ScanOptions = ScanOptions()) async throws -> DeviceAddress? {
                try await host.central.first(options, within: .seconds(5)) { $0.name == "Hidden" }.identity
            }
            #expect(try await identity() == nil)
            var bond = Bond(
                with: address, as: await host.adapter.address,
                PairingStrength(isAuthenticated: false, isSecureConnections: true))
            bond.peerIdentityKey = key
            try store.insert(bond)
            await host.wait(.seconds(1))
            #expect(try await identity() == address)
            var options = ScanOptions()
            options.addresses = [AddressFilter(address)]
            #expect(try await identity(options) == address)
            // The bond is removed.
            store.remove(bond.id)
            await host.wait(.seconds(1))
            #expect(try await identity() == nil)
            await other.close()
        }
    }

    @Test("a foreign stop while a scan starts is reversed after the start")
    func foreignStopDuringStartIsReversed() async throws {
        try await KernelHost.run { host in
            host.port.script(.leSetExtendedScanEnable, .late(.seconds(1)), times: 1)
            let stream = host.central.scan()
            let following = Task(executorPreference: host.loop) {
                for try await found in stream where found.name == "Late" { return true }
                return false
            }
            _ = await host.loop.sleep(for: .milliseconds(300))
            host.kernel.emit(LESetExtendedScanEnable(enable: false))
            _ = await host.loop.sleep(for: .seconds(5))
            #expect(host.health == [.scanTakenBack])
            let other = try await host.other()
            _ = try await PeripheralManager(other).advertise(.beacon("Late"))
            #expect(try await following.value)
            #expect(host.health == [.scanTakenBack])
            await other.close()
        }
    }
}

extension Adapter {
    fileprivate var scansNothing: Bool { radio.isScanQuiet }
}
