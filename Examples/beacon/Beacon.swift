import BLE
import ExampleSupport

/// Advertises an iBeacon continuously, together with a link to a web page as an Eddystone URL. It advertises
/// again when its adapter was switched off and has power again.
///
///     beacon [ADAPTER [UUID]]
@main enum Beacon {
    static func main() async {
        await Program.run(reopening: true) { adapter, arguments in
            let uuid =
                try arguments.first.map { try BluetoothUUID($0) } ?? 0xf7826da6_4fa2_4e98_8024_bc5b71e0893e
            let manager = PeripheralManager(adapter)

            var beacon = AdvertisingContent()
            beacon.iBeacon = IBeacon(uuid: uuid, major: 1, minor: 7, measuredPower: -59)
            let first = try await manager.advertise(request(beacon))

            var page = AdvertisingContent()
            page.eddystoneURL = try EddystoneURL("https://swift.org/")
            let second = try await manager.advertise(request(page))

            Program.printLine("on air as \(await adapter.address)")
            // Each ends when the adapter is closed, or with Ctrl-C.
            async let ends = (first.ended(), second.ended())
            Program.printLine("\(try await ends)")
        }
    }

    private static func request(_ content: AdvertisingContent) throws -> AdvertisingRequest {
        let plan = try AdvertisingPlan(content, kind: .nonconnectable)
        return AdvertisingRequest(plan, kind: .nonconnectable, preset: .background)
    }
}
