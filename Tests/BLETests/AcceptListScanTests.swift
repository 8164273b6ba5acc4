import BLECore
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// Tests of scans for known addresses, which the controller filters by its accept list.
struct AcceptListScanTests {
    private func wire(_ address: DeviceAddress) -> String {
        (0..<6).map { UInt8(truncatingIfNeeded: address.value >> UInt64(8 * $0)).hex }.joined()
    }

    private func isOnly(_ reports: [String], of address: DeviceAddress) -> Bool {
        !reports.isEmpty && reports.allSatisfy { $0.contains(wire(address)) }
    }

    private func reports(_ hosts: ScanHosts) -> [String] {
        hosts.log.withLock { $0.filter { $0.hasPrefix("<- 043e") } }
    }

    @Test(arguments: [false, true])
    func controllerFiltersByAcceptList(_ isExtended: Bool) async throws {
        try await ScanHosts.run(extended: isExtended) { hosts in
            let wanted = try await hosts.advertiser(named: "wanted").address
            _ = try await hosts.advertiser(named: "other")
            hosts.forget()
            var options = ScanOptions()
            options.addresses = [AddressFilter(wanted)]
            options.repeats = .all
            let received = try await hosts.receive(options, for: .seconds(1))
            #expect(received.count > 5 && received.allSatisfy { $0.address == wanted })
            // The device is added to the list, and the scan has filter policy 1.
            let parameters =
                isExtended
                ? "412008" + "01" + "01" + "01" + "0160006000" : "0b2007" + "0160006000" + "01" + "01"
            #expect(
                Array(hosts.commands.prefix(2)) == ["112007" + "01" + wire(wanted), parameters])
            #expect(isOnly(reports(hosts), of: wanted))
        }
    }

    @Test("connecting takes the accept list; the scan runs without it and reclaims it afterwards")
    func connectingTakesAcceptListFromScan() async throws {
        try await ScanHosts.run { hosts in
            let wanted = try await hosts.advertiser(named: "wanted").address
            let other = try await hosts.advertiser(named: "other").address
            var options = ScanOptions()
            options.addresses = [AddressFilter(wanted)]
            options.repeats = .all
            let stream = hosts.central.scan(options)
            let senders = Lock<Set<DeviceAddress>>([])
            let listening = Task(executorPreference: hosts.loop) {
                for try await found in stream { senders.withLock { _ = $0.insert(found.address ?? other) } }
            }
            _ = await hosts.loop.sleep(for: .seconds(1))
            hosts.forget()
            // Both devices are absent. A connect command contains one address, so two need the list.
            let absent = [1, 2].map { DeviceAddress($0, type: .public) }
            let connecting = absent.map { device in
                Task(executorPreference: hosts.loop) {
                    _ = try await hosts.central.connect(to: device, timeout: .seconds(60))
                }
            }
            _ = await hosts.loop.sleep(for: .seconds(1))
            let commands = hosts.commands
            let list = commands.filter { $0.hasPrefix("1020") || $0.hasPrefix("1120") }
            #expect(list == ["102000"] + absent.map { "112007" + "00" + wire($0) })
            // The list changes only after the scan that filters by it has ended. The scan then continues without it.
            let scans = commands.filter { $0.hasPrefix("0b20") || $0.hasPrefix("0c20") }
            #expect(scans.first == "0c2002" + "0000" && scans.last == "0c2002" + "0100")
            #expect(scans.dropLast().last?.hasSuffix("00") == true)
            #expect(
                commands.firstIndex(of: "0c2002" + "0000") ?? .max < commands.firstIndex(of: "102000") ?? 0)
            hosts.forget()
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(!isOnly(reports(hosts), of: wanted))
            for each in connecting { each.cancel() }
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(hosts.commands.contains("0b2007" + "0160006000" + "01" + "01"))
            hosts.forget()
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(isOnly(reports(hosts), of: wanted))
            listening.cancel()
            #expect(senders.withLock { $0 } == [wanted])
        }
    }

    @Test("a scan that keeps its timing while connecting yields the accept list and reclaims it")
    func unchangedScanYieldsAndReclaimsAcceptList() async throws {
        try await ScanHosts.run { hosts in
            let wanted = try await hosts.advertiser(named: "wanted").address
            var options = ScanOptions()
            options.addresses = [AddressFilter(wanted)]
            options.preset = .balanced
            let stream = hosts.central.scan(options)
            let listening = Task(executorPreference: hosts.loop) { for try await _ in stream {} }
            _ = await hosts.loop.sleep(for: .seconds(1))
            let filtering = hosts.commands.last { $0.hasPrefix("0b20") }
            #expect(filtering?.hasSuffix("01") == true)
            var connecting: [Task<Void, any Error>] = []
            for number in 1...2 as ClosedRange<UInt64> {
                hosts.forget()
                connecting.append(
                    Task(executorPreference: hosts.loop) {
                        _ = try await hosts.central.connect(
                            to: DeviceAddress(number, type: .public), timeout: .seconds(60))
                    })
                _ = await hosts.loop.sleep(for: .seconds(1))
            }
            // The initiator filters by the list, and the scan no longer does.
            #expect(hosts.commands.last { $0.hasPrefix("0d20") }?.dropFirst(14).prefix(2) == "01")
            #expect(hosts.commands.last { $0.hasPrefix("0b20") }?.hasSuffix("00") == true)
            hosts.forget()
            for each in connecting { each.cancel() }
            _ = await hosts.loop.sleep(for: .seconds(1))
            #expect(hosts.commands.last { $0.hasPrefix("0b20") } == filtering)
            listening.cancel()
        }
    }

    @Test("the host filters when the addresses exceed the accept list")
    func hostFiltersExcessAddresses() async throws {
        var small = VirtualController.Configuration()
        small.acceptListSize = 2
        try await ScanHosts.run(small) { hosts in
            let wanted = try await hosts.advertiser(named: "wanted").address
            _ = try await hosts.advertiser(named: "other")
            var options = ScanOptions()
            options.addresses = [AddressFilter(wanted), AddressFilter(0x1111), AddressFilter(0x2222)]
            let received = try await hosts.receive(options, for: .seconds(1))
            #expect(Set(received.map(\.address)) == [wanted])
            #expect(!isOnly(reports(hosts), of: wanted))
        }
    }
}
