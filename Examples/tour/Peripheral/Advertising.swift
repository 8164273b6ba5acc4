import BLE
import ExampleSupport

extension TourPeripheral {
    /// Advertises as an application on an Apple device would: content that does not fit into 28 octets is
    /// shortened.
    func advertise() async throws {
        var content = AdvertisingContent()
        content.name = "Grand tour of the capabilities"
        content.services = [.tour]
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .apple)
        _ = try await manager.advertise(AdvertisingRequest(plan), maximumLinks: 2)

        // The form in which iOS advertises the services of an application in the background.
        var background = AdvertisingContent()
        background.manufacturer = [AppleOverflowArea(mask: 1 << (127 - 13)).manufacturerData]
        let area = try AdvertisingPlan(background, kind: .nonconnectable)
        _ = try await manager.advertise(AdvertisingRequest(area, kind: .nonconnectable))
        let moved = plan.overflow.map { "\($0.field) \($0.action) \($0.octets)" }
        let octets = "\(plan.octets) and \(plan.scanResponse.count) octets"
        Program.printLine("on air: \(octets), \(moved.joined(separator: ", "))")
    }
}
