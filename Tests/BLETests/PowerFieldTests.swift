import BLE
import BLEAdvertising
import BLECore
import HCI
import Testing

/// The Tx Power Level field, which contains the power that the controller has selected.
struct PowerFieldTests {
    @Test(arguments: [false, true]) func powerFieldHasSelectedPower(_ isExtended: Bool) async throws {
        try await TwoHosts.run(serverExtended: isExtended, clientExtended: isExtended) { hosts in
            var content = AdvertisingContent()
            content.txPower = 10
            var request = AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable))
            (request.power, request.correctsPowerField) = (10, true)
            let advertising = try await hosts.peripheral.advertise(request)
            // The simulated controllers send with 0 dBm at most.
            #expect(await advertising.power == 0)
            let found = try await hosts.central.first(within: .seconds(5)) {
                !$0.report.type.contains(.scanResponse)
            }
            #expect(found.report.data == [2, 1, 6, 2, 0x0a, 0])
            #expect(request.sent(with: 0).plan.data == [2, 1, 6, 2, 0x0a, 0])
            content.name = "N"
            request.plan = try AdvertisingPlan(content, kind: .connectable)
            try await advertising.update(request)
            let next = try await hosts.central.first(within: .seconds(5)) { $0.name == "N" }
            #expect(AdvertisingData(next.report.data).txPower == 0)
        }
    }

    @Test func powerFieldIsUnchangedUnlessCorrected() throws {
        var content = AdvertisingContent()
        content.txPower = 10
        let request = AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable))
        #expect(request.sent(with: 0) == request)
    }
}
