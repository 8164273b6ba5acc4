import BLEAdvertising
import BLECore
import TestSupport
import Testing

/// Content that cannot be advertised, the field that the error names, its octets, and the limit.
struct RefusedSample: CustomTestStringConvertible {
    let what: String
    let content: AdvertisingContent
    var kind = AdvertisingKind.connectable
    var policy = OverflowPolicy.fail
    var isExtended = false
    let field: AdvertisingContent.Field
    let octets: Int
    var limit = 31
    var hasScanResponse = true

    var testDescription: String { "\(what), \(kind), \(policy)" }
}

private let vendor = BluetoothUUID(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e)
private func named(_ count: Int, _ change: (inout AdvertisingContent) -> Void = { _ in })
    -> AdvertisingContent
{
    content {
        $0.name = String(repeating: "n", count: count)
        change(&$0)
    }
}

let refusedSamples: [RefusedSample] = [
    RefusedSample(what: "a long name", content: named(27), field: .name, octets: 29),
    RefusedSample(
        what: "the error names the least important field",
        content: content {
            $0.services = [vendor]
            $0.appearance = 1
            $0.manufacturer = [.init(.test, [1, 2, 3, 4])]
        }, field: .appearance, octets: 4),
    RefusedSample(
        what: "the error names a field that is too long by itself",
        content: named(4) { $0.manufacturer = [.init(.test, .init(repeating: 0, count: 25))] },
        field: .manufacturer, octets: 29),
    RefusedSample(
        what: "no name to shorten",
        content: content { $0.services = [vendor] + (0..<5).map { BluetoothUUID(0x1800 + UInt16($0)) } },
        policy: .shortenName, field: .services, octets: 18),
    RefusedSample(
        what: "no room for one character",
        content: named(5) { $0.manufacturer = [.init(.test, .init(repeating: 0, count: 22))] },
        policy: .shortenName, field: .name, octets: 7),
    RefusedSample(
        what: "removing the name would not suffice",
        content: named(5) { $0.manufacturer = [.init(.test, .init(repeating: 0, count: 26))] },
        policy: .shortenName, field: .manufacturer, octets: 30),
    RefusedSample(
        what: "one large character",
        content: content {
            $0.name = "👨‍👩‍👧‍👦"
            $0.services = [0x180d, 0x180f]
        }, policy: .shortenName, field: .name, octets: 27),
    RefusedSample(
        what: "a name longer than a scan response", content: named(30), policy: .scanResponse, field: .name,
        octets: 32),
    RefusedSample(
        what: "content exceeds both packets",
        content: named(18) {
            $0.serviceData = [.init(0x180f, .init(repeating: 0, count: 22))]
            $0.services = [vendor]
        }, policy: .scanResponse, field: .name, octets: 20),
    RefusedSample(
        what: "solicited services are not truncated",
        content: content { $0.solicited = [vendor, BluetoothUUID(vendor.value + 1)] }, policy: .scanResponse,
        field: .solicited, octets: 34),
    RefusedSample(
        what: "a service list is not dropped entirely",
        content: named(20) {
            $0.manufacturer = [.init(.test, .init(repeating: 0, count: 22))]
            $0.services = [vendor]
        }, policy: .scanResponse, field: .name, octets: 22),
    RefusedSample(
        what: "no scan response", content: named(30), kind: .nonconnectable, policy: .scanResponse,
        field: .name, octets: 32, hasScanResponse: false),
    RefusedSample(
        what: "the scan response is already used", content: named(30) { $0.rawScanResponse = [] },
        policy: .scanResponse,
        field: .name, octets: 32, hasScanResponse: false),
    RefusedSample(
        what: "content exceeds the single packet of a connectable extended advertisement",
        content: named(241), policy: .extended, field: .name, octets: 243, limit: 245),
    RefusedSample(
        what: "content exceeds an extended advertisement",
        content: content {
            $0.manufacturer = Array(repeating: .init(.test, .init(repeating: 1, count: 233)), count: 7)
        },
        kind: .nonconnectable, policy: .extended, field: .manufacturer, octets: 237, limit: 1650),
    RefusedSample(
        what: "a field longer than an AD structure",
        content: content { $0.manufacturer = [.init(.test, .init(repeating: 1, count: 253))] },
        kind: .nonconnectable, policy: .extended, field: .manufacturer, octets: 257, limit: 256),
    RefusedSample(
        what: "extended content too long, with a policy for legacy packets", content: named(250),
        policy: .scanResponse, isExtended: true, field: .name, octets: 252, limit: 245),
    RefusedSample(
        what: "extended packets and a scan response", content: named(3) { $0.rawScanResponse = [1, 9] },
        isExtended: true, field: .rawScanResponse, octets: 2, limit: 0, hasScanResponse: false),
    RefusedSample(
        what: "a scan response that exceeds an extended set",
        content: content {
            $0.rawScanResponse = Array(repeating: [249] + [UInt8](repeating: 0x99, count: 249), count: 7)
                .flatMap(\.self)
        }, kind: .scannable, isExtended: true, field: .rawScanResponse, octets: 1750, limit: 1650),
    RefusedSample(
        what: "raw", content: content { $0.raw = [31] + .init(repeating: 9, count: 31) },
        policy: .scanResponse,
        field: .raw, octets: 32),
    RefusedSample(
        what: "raw scan response",
        content: content { $0.rawScanResponse = [31] + .init(repeating: 9, count: 31) },
        field: .rawScanResponse, octets: 32),
    RefusedSample(
        what: "a scan response, but not scannable", content: content { $0.rawScanResponse = [2, 9, 65] },
        kind: .nonconnectable, field: .rawScanResponse, octets: 3, limit: 0, hasScanResponse: false),
]

@Suite struct AdvertisingPlanErrorTests {
    @Test(arguments: refusedSamples)
    func refusesContentThatDoesNotFit(_ sample: RefusedSample) throws {
        let error = #expect(throws: AdvertisingPlanError.self) {
            try AdvertisingPlan(
                sample.content, kind: sample.kind, overflow: sample.policy, extended: sample.isExtended)
        }
        let overflow: AdvertisingPlanError.Overflow? =
            switch error {
            case .overflow(let overflow) where sample.hasScanResponse: overflow
            case .noScanResponse(let overflow) where !sample.hasScanResponse: overflow
            default: nil
            }
        let found = try #require(overflow, "\(String(describing: error))")
        #expect(found.field == sample.field)
        #expect(found.octets == sample.octets)
        #expect(found.limit == sample.limit)
        #expect(error?.field == sample.field)
    }

    @Test(arguments: [
        ("02 01", 0, DecodeError.Reason.truncated(needed: 2, available: 1)),
        ("020106 0509 41", 3, .truncated(needed: 5, available: 2)),
        ("020106 00 01", 4, .malformed("only zeros may follow")),
    ])
    func malformedRawDataIsRefused(_ hex: String, _ offset: Int, _ reason: DecodeError.Reason) {
        for (field, content) in [
            (AdvertisingContent.Field.raw, content { $0.raw = octets(hex) }),
            (.rawScanResponse, content { $0.rawScanResponse = octets(hex) }),
        ] {
            let error = #expect(throws: AdvertisingPlanError.self) {
                try AdvertisingPlan(content, kind: .connectable)
            }
            guard case .malformed(field, let problem)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(problem.offset == offset)
            #expect(problem.reason == reason)
        }
    }

    @Test func rawDataExcludesOtherFields() {
        let content = content {
            $0.raw = octets("020106")
            $0.name = "name"
        }
        #expect(
            throws: AdvertisingPlanError.invalid(
                .raw, .rawBeside(.name))
        ) { try AdvertisingPlan(content, kind: .connectable) }
    }

    @Test func rawScanResponseOfScannableExtendedSetExcludesAdvertisingData() {
        let content = content {
            $0.raw = octets("020106")
            $0.rawScanResponse = octets("020941")
        }
        #expect(throws: AdvertisingPlanError.invalid(.rawScanResponse, .rawBeside(.raw))) {
            try AdvertisingPlan(content, kind: .scannable, extended: true)
        }
    }

    @Test func callerLimitsApply() throws {
        var limits = AdvertisingLimits(for: .connectable)
        limits.extended = 100
        #expect(throws: AdvertisingPlanError.self) {
            try AdvertisingPlan(named(150), kind: .connectable, overflow: .extended, limits: limits)
        }
        limits.extended = 160
        let plan = try AdvertisingPlan(named(150), kind: .connectable, overflow: .extended, limits: limits)
        #expect(plan.octets == 155)
        #expect(plan.limit == 160)
    }

    @Test func overflowDescriptionListsFieldSizes() {
        let content = named(26) { $0.services = [0x1809] }
        let error = #expect(throws: AdvertisingPlanError.self) {
            try AdvertisingPlan(content, kind: .connectable)
        }
        #expect(
            error?.description
                == "name takes 28 octets and does not fit: the limit is 31, "
                + "and flags 3, services 4, name 28 make 35"
        )
        #expect(
            AdvertisingPlanError.overflow(.init(.raw, octets: 40, limit: 31)).description
                == "raw takes 40 octets and does not fit: the limit is 31")
    }

    @Test(arguments: [
        (content { $0.txPower = 4 }, false, "txPower: Apple's rules have room for services and a name only"),
        (content { $0.raw = [2, 1, 6] }, false, "raw: Apple's rules have room for services and a name only"),
        (
            content { $0.rawScanResponse = [2, 10, 0] }, false,
            "rawScanResponse: Apple's rules leave the scan response to the name"
        ),
        (content { $0.name = "n" }, true, "flags: Apple's rules are for legacy packets only"),
    ])
    func applePolicyRefusesUnsupportedContent(content: AdvertisingContent, extended: Bool, text: String) {
        let result = Result {
            try AdvertisingPlan(content, kind: .connectable, overflow: .apple, extended: extended)
        }
        #expect(result.mapError { Refusal(text: "\($0)") } == .failure(Refusal(text: text)))
    }

    private struct Refusal: Error, Equatable { let text: String }

    /// For any content and policy, planning fails, or the packets keep their limits and all losses are reported.
    @Test(arguments: [UInt64(1), 2, 3])
    func randomContentKeepsLimitsAndReportsLosses(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let content = randomContent(&random)
            let kind = AdvertisingKind.allCases.randomElement(using: &random) ?? .connectable
            for policy in OverflowPolicy.allCases {
                guard let plan = try? AdvertisingPlan(content, kind: kind, overflow: policy) else { continue }
                AdvertisingPlanTests().checkSizes(of: plan)
                let packets = [plan.data, plan.scanResponse, plan.extended ?? []].map { AdvertisingData($0) }
                let uuids = packets.flatMap(\.serviceUUIDs)
                let dropped = plan.overflow.filter { $0.action == .dropped }
                #expect(Set(uuids).isSubset(of: content.services))
                #expect(dropped.isEmpty == (uuids.count == content.services.count))
                let name = packets.compactMap(\.localName).first
                #expect((name?.text ?? "").isEmpty || content.name?.hasPrefix(name?.text ?? "") == true)
                #expect(name?.isComplete != false || plan.overflow.contains { $0.action == .shortened })
                #expect(packets.flatMap(\.manufacturerData) == content.manufacturer)
                #expect(Set(packets.flatMap(\.serviceData)) == Set(content.serviceData))
                #expect(packets.compactMap(\.txPower).first == content.txPower)
                if policy == .fail { #expect(plan.overflow.isEmpty) }
            }
        }
    }

    private func randomContent(_ random: inout SplitMix64) -> AdvertisingContent {
        var content = AdvertisingContent()
        if Bool.random(using: &random) {
            content.name = String(repeating: "ñ", count: .random(in: 0...20, using: &random))
        }
        if Bool.random(using: &random) { content.txPower = .random(in: -127...20, using: &random) }
        let count = Int.random(in: 0...20, using: &random)
        content.services = (0..<count).map { BluetoothUUID(0x1800 + UInt16($0)) }
        if Bool.random(using: &random) { content.services.append(vendor) }
        if Bool.random(using: &random) { content.manufacturer = [.init(.test, random.bytes(upTo: 29))] }
        if Bool.random(using: &random) { content.serviceData = [.init(0x180f, random.bytes(upTo: 29))] }
        return content
    }
}
