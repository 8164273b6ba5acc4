import BLE
import ExampleSupport

extension TourPeripheral {
    /// Goes on air as an application on an Apple device would: what does not fit into 28 octets is cut.
    func advertise() async throws {
        var content = AdvertisingContent()
        content.name = "Grand tour of the capabilities"
        content.services = [.tour]
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .apple)
        _ = try await manager.advertise(AdvertisingRequest(plan), maximumLinks: 2)

        // What iOS makes of services when the application is in the background.
        var background = AdvertisingContent()
        background.manufacturer = [AppleOverflowArea(mask: 1 << (127 - 13)).manufacturerData]
        let area = try AdvertisingPlan(background, kind: .nonconnectable)
        _ = try await manager.advertise(AdvertisingRequest(area, kind: .nonconnectable))
        let moved = plan.overflow.map { "\($0.field) \($0.action) \($0.octets)" }
        let octets = "\(plan.octets) and \(plan.scanResponse.count) octets"
        Program.say("on air: \(octets), \(moved.joined(separator: ", "))")
    }
}
