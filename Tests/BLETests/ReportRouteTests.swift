import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

@testable import BLE

/// The separate route of advertising reports: their recognition, and the scan to which they belong.
struct ReportRouteTests {
    @Test(
        "connection data are not routed as reports, whatever their handle and length",
        arguments: [0x03e, 0x13e, 0xe3e], [0x02, 0x0d])
    func connectionDataAreNotReports(handle: Int, length: Int) async throws {
        try await ScanHosts.run(extended: true) { hosts in
            let header = [0x02, UInt8(handle & 0xff), UInt8(handle >> 8) | 0x20, UInt8(length), 0]
            let packet = header + [UInt8](repeating: 0, count: length)
            #expect(await hosts.scanner.takesForReports(packet) == false)
        }
    }

    @Test("half of a report to one scan is not the start of a report to the next")
    func partialReportEndsWithItsScan() async throws {
        try await ScanHosts.run { hosts in
            let port = ControlledPort(await hosts.air.attach(.init(extended: .init())), on: hosts.loop)
            let adapter = try await Adapter.open(on: port, options: AdapterOptions(loop: hosts.loop))
            let sender = HCIAddress(DeviceAddress(0xc000_0000_0001, type: .random))
            func report(_ data: [UInt8], _ status: AdvertisingEventType.DataStatus) -> HCIEventPacket {
                let type = AdvertisingEventType().with(status)
                return LEExtendedAdvertisingReports(reports: [
                    .init(type: type, address: sender, secondaryPHY: .le1M, sid: 1, rssi: -50, data: data)
                ]).packet
            }
            let first = CentralManager(adapter).scan()
            let listening = Task(executorPreference: hosts.loop) { for try await _ in first {} }
            _ = await hosts.loop.sleep(for: .milliseconds(100))
            port.emit(report([3, 0xff, 1], .moreToCome))
            _ = await hosts.loop.sleep(for: .milliseconds(100))
            listening.cancel()
            _ = await hosts.loop.sleep(for: .milliseconds(100))

            let second = CentralManager(adapter).scan()
            let following = Task(executorPreference: hosts.loop) {
                for try await found in second { return found.fields.bytes }
                return []
            }
            _ = await hosts.loop.sleep(for: .milliseconds(100))
            port.emit(report([2, 1, 6], .complete))
            #expect(try await following.value == [2, 1, 6])
            await adapter.close()
        }
    }
}

extension Adapter {
    /// Returns whether the adapter handles a packet as advertising reports; nil when it finds these malformed.
    fileprivate func takesForReports(_ packet: [UInt8]) -> Bool? { try? receiveReports(packet.span) }
}
