import BLEAdvertising
import BLECore
import TestSupport
import Testing

/// Content, the options of the plan, and the expected packets, with each field as "name octets", in order.
struct PlanSample: CustomTestStringConvertible {
    let what: String
    let content: AdvertisingContent
    var kind = AdvertisingKind.connectable
    var policy = OverflowPolicy.fail
    var isExtended = false
    var data: [String] = []
    var response: [String] = []
    var extended: [String]?
    var overflow: [String] = []
    var hex: String?

    var testDescription: String { "\(what), \(kind), \(policy)" }
}

func content(_ change: (inout AdvertisingContent) -> Void) -> AdvertisingContent {
    var content = AdvertisingContent()
    change(&content)
    return content
}

private let vendor = BluetoothUUID(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e)
private let beacon = IBeacon(
    uuid: BluetoothUUID(0xe2c5_6db5_dffb_48d2_b060_d0f5_a710_96e0), major: 1, minor: 2, measuredPower: -59)
private let everything = content {
    $0.name = "Ten octets"
    $0.txPower = 4
    $0.appearance = 0x0340
    $0.serviceData = [ServiceData(0x180f, [100])]
    $0.manufacturer = [ManufacturerData(.test, [1, 2, 3])]
    $0.uri = AdvertisedURI("https://a.bc")
    $0.solicited = [0x1812]
    $0.services = [0x180d, 0x180f]
}
private let kitchen = content {
    $0.name = "Thermometer in the kitchen"
    $0.services = [0x1809]
}
private func shorts(_ count: Int) -> [BluetoothUUID] {
    (0..<count).map { BluetoothUUID(0x1800 + UInt16($0)) }
}

/// Returns a structure with this length.
private func structure(of length: UInt8) -> [UInt8] {
    [length] + [UInt8](repeating: 0x99, count: Int(length))
}
private let longResponse: [UInt8] = (0..<6).flatMap { _ in structure(of: 249) } + structure(of: 149)

let planSamples = plainContent + shortenedNames + appleRules + scanResponses + extendedPackets + rawPackets

private let plainContent: [PlanSample] = [
    PlanSample(what: "nothing", content: content { _ in }, data: ["flags 3"], hex: "020106"),
    PlanSample(what: "nothing", content: content { _ in }, kind: .scannable, hex: ""),
    PlanSample(
        what: "flags given", content: content { $0.flags = .leLimitedDiscoverable }, kind: .nonconnectable,
        data: ["flags 3"], hex: "020101"),
    PlanSample(
        what: "a thermometer",
        content: content {
            $0.name = "Thermometer"
            $0.services = [0x1809]
        },
        data: ["flags 3", "services 4", "name 13"],
        hex: "020106 03030918 0c09 546865726d6f6d65746572"),
    PlanSample(
        what: "an iBeacon", content: content { $0.iBeacon = beacon }, kind: .nonconnectable,
        data: ["flags 3", "manufacturer 27"],
        hex: "020106 1aff4c000215 e2c56db5dffb48d2b060d0f5a71096e0 0001 0002 c5"),
    PlanSample(
        what: "an Eddystone",
        content: content { $0.eddystoneURL = try? EddystoneURL("https://example.com/a") },
        kind: .nonconnectable, data: ["services 4", "serviceData 16"],
        hex: "0303aafe 0f16aafe 10ee 03 6578616d706c65 00 61"),
    PlanSample(
        what: "an Eddystone with its service listed",
        content: content {
            $0.eddystoneURL = try? EddystoneURL("https://a.b")
            $0.services = [0xfeaa, 0x180a]
        },
        kind: .nonconnectable, data: ["services 6", "serviceData 10"]),
    PlanSample(
        what: "services of all widths",
        content: content { $0.services = [vendor, 0x180d, BluetoothUUID(uint32: 0x1234_5678)] },
        kind: .scannable, data: ["services 4", "services 6", "services 18"]),
    PlanSample(
        what: "exactly 31",
        content: content { $0.name = String(repeating: "n", count: 26) }, data: ["flags 3", "name 28"]),
    PlanSample(
        what: "a short name is not shortened", content: content { $0.name = "n" }, policy: .shortenName,
        data: ["flags 3", "name 3"]),
]

// Shorter names.
private let shortenedNames: [PlanSample] = [
    PlanSample(
        what: "a long name", content: kitchen, policy: .shortenName,
        data: ["flags 3", "services 4", "name 24"], overflow: ["name shortened 4"],
        hex: "020106 03030918 1708 546865726d6f6d6574657220696e20746865206b6974"),
    PlanSample(
        what: "é is not split",
        content: content { $0.name = String(repeating: "é", count: 20) }, kind: .nonconnectable,
        policy: .shortenName, data: ["name 30"], overflow: ["name shortened 12"]),
    PlanSample(
        what: "a family emoji is one character",
        content: content { $0.name = "home " + "👨‍👩‍👧‍👦" + "👍🏽" },
        policy: .shortenName, data: ["flags 3", "name 7"], overflow: ["name shortened 33"],
        hex: "020106 0608 686f6d6520"),
]

// Apple's rules.
private let appleRules: [PlanSample] = [
    PlanSample(
        what: "all fields fit",
        content: content {
            $0.name = "Thermometer"
            $0.services = [0x1809]
        }, policy: .apple, data: ["flags 3", "services 4", "name 13"]),
    PlanSample(
        what: "a long name", content: kitchen, policy: .apple, data: ["flags 3", "services 4"],
        response: ["name 12"], overflow: ["name scan-response 12", "name shortened 16"],
        hex: "020106 03030918"),
    PlanSample(
        what: "ten octets of name",
        content: content {
            $0.name = "Ten octets"
            $0.services = [vendor]
        }, policy: .apple, data: ["flags 3", "services 18"], response: ["name 12"],
        overflow: ["name scan-response 12"]),
    PlanSample(
        what: "28 octets beside the flags",
        content: content { $0.services = shorts(14) }, policy: .apple, data: ["flags 3", "services 28"],
        overflow: ["services dropped 2"]),
    PlanSample(
        what: "28 octets without flags", content: content { $0.services = shorts(14) }, kind: .nonconnectable,
        policy: .apple, data: ["services 28"], overflow: ["services dropped 2"]),
    PlanSample(
        what: "a second vendor service",
        content: content { $0.services = [vendor, BluetoothUUID(vendor.value + 1), 0x180f] }, policy: .apple,
        data: ["flags 3", "services 4", "services 18"], overflow: ["services dropped 16"]),
]

// The scan response.
private let scanResponses: [PlanSample] = [
    PlanSample(
        what: "a long name", content: kitchen, policy: .scanResponse, data: ["flags 3", "services 4"],
        response: ["name 28"], overflow: ["name scan-response 28"]),
    PlanSample(
        what: "fitting content is not moved", content: content { $0.name = "here" }, policy: .scanResponse,
        data: ["flags 3", "name 6"]),
    PlanSample(
        what: "everything", content: everything, policy: .scanResponse,
        data: ["flags 3", "services 6", "solicited 4", "uri 9", "manufacturer 7"],
        response: ["serviceData 5", "appearance 4", "txPower 3", "name 12"],
        overflow: [
            "name scan-response 12", "txPower scan-response 3", "appearance scan-response 4",
            "serviceData scan-response 5",
        ]),
    PlanSample(
        what: "a field that does not fit the response stays, and the next one moves",
        content: content {
            $0.name = "ten octets"
            $0.serviceData = [ServiceData(0x180f, [UInt8](repeating: 1, count: 18))]
            $0.manufacturer = [ManufacturerData(.test, [UInt8](repeating: 2, count: 6))]
        }, policy: .scanResponse, data: ["flags 3", "serviceData 22"],
        response: ["manufacturer 10", "name 12"],
        overflow: ["name scan-response 12", "manufacturer scan-response 10"]),
    PlanSample(
        what: "the name stays when moving it leaves no room for the rest",
        content: content {
            $0.name = "eighteen octets it"
            $0.serviceData = [ServiceData(0x180f, [UInt8](repeating: 1, count: 25))]
            $0.manufacturer = [ManufacturerData(.test, [UInt8](repeating: 2, count: 4))]
        }, policy: .scanResponse, data: ["flags 3", "manufacturer 8", "name 20"],
        response: ["serviceData 29"], overflow: ["serviceData scan-response 29"]),
    PlanSample(
        what: "two vendor services",
        content: content { $0.services = [vendor, BluetoothUUID(vendor.value + 1)] }, policy: .scanResponse,
        data: ["flags 3", "services 18"], response: ["services 18"],
        overflow: ["services scan-response 18"],
        hex: "020106 1106 9ecadc240ee5a9e093f3a3b50100406e"),
    PlanSample(
        what: "a vendor service and others",
        content: content { $0.services = [vendor] + shorts(6) }, policy: .scanResponse,
        data: ["flags 3", "services 14"], response: ["services 18"],
        overflow: ["services scan-response 18"]),
    PlanSample(
        what: "20 services", content: content { $0.services = shorts(20) }, policy: .scanResponse,
        data: ["flags 3", "services 28"], response: ["services 16"],
        overflow: ["services scan-response 16"]),
    PlanSample(
        what: "30 services and a name",
        content: content {
            $0.services = shorts(30)
            $0.name = "n"
        }, policy: .scanResponse,
        data: ["flags 3", "services 28"], response: ["services 28", "name 3"],
        overflow: ["name scan-response 3", "services scan-response 28", "services dropped 8"]),
    PlanSample(
        what: "15 services, a name and an appearance",
        content: content {
            $0.services = shorts(15)
            $0.name = "abcdefghij"
            $0.appearance = 1
            $0.flags = .discoverable
        }, kind: .scannable, policy: .scanResponse,
        data: ["flags 3", "services 28"], response: ["services 6", "appearance 4", "name 12"],
        overflow: ["name scan-response 12", "appearance scan-response 4", "services scan-response 6"]),
]

// Extended packets.
private let extendedPackets: [PlanSample] = [
    PlanSample(
        what: "a long name", content: kitchen, policy: .extended,
        extended: ["flags 3", "services 4", "name 28"], overflow: ["name extended 28"]),
    PlanSample(
        what: "everything", content: everything, policy: .extended,
        extended: [
            "flags 3", "services 6", "solicited 4", "uri 9", "manufacturer 7", "serviceData 5",
            "appearance 4",
            "txPower 3", "name 12",
        ],
        overflow: [
            "name extended 12", "txPower extended 3", "appearance extended 4", "serviceData extended 5",
        ]),
    PlanSample(
        what: "fitting content stays legacy", content: content { $0.name = "here" }, policy: .extended,
        data: ["flags 3", "name 6"]),
    PlanSample(
        what: "extended on request", content: content { $0.name = "here" }, isExtended: true,
        extended: ["flags 3", "name 6"], hex: "020106 05 09 68657265"),
    PlanSample(
        what: "seven long fields",
        content: content {
            $0.manufacturer = Array(repeating: .init(.test, .init(repeating: 1, count: 228)), count: 7)
        },
        kind: .nonconnectable, policy: .extended,
        extended: Array(repeating: "manufacturer 232", count: 7),
        overflow: Array(repeating: "manufacturer extended 232", count: 7)),
    PlanSample(
        what: "a name longer than a structure",
        content: content { $0.name = String(repeating: "n", count: 300) }, kind: .nonconnectable,
        policy: .shortenName, isExtended: true, extended: ["name 256"], overflow: ["name shortened 46"]),
]

// Raw packets.
private let rawPackets: [PlanSample] = [
    PlanSample(
        what: "raw, padded", content: content { $0.raw = octets("020106 0000") }, data: ["raw 5"],
        hex: "020106 0000"),
    PlanSample(
        what: "raw, with meaningless fields",
        content: content { $0.raw = octets("010a 0399 0102") }, kind: .nonconnectable, data: ["raw 6"]),
    PlanSample(
        what: "raw with a scan response",
        content: content {
            $0.raw = octets("020106")
            $0.rawScanResponse = octets("020941")
        }, data: ["raw 3"], response: ["rawScanResponse 3"], hex: "020106"),
    PlanSample(
        what: "a shortened name with a raw scan response",
        content: content {
            $0.name = String(repeating: "n", count: 40)
            $0.rawScanResponse = octets("020941")
        }, policy: .shortenName, data: ["flags 3", "name 28"], response: ["rawScanResponse 3"],
        overflow: ["name shortened 14"]),
    PlanSample(
        what: "long raw", content: content { $0.raw = structure(of: 33) },
        policy: .extended, extended: ["raw 34"], overflow: ["raw extended 34"]),
    PlanSample(
        what: "the scan response of a scannable extended set",
        content: content { $0.rawScanResponse = longResponse }, kind: .scannable, isExtended: true,
        extended: ["rawScanResponse 1650"]),
]

@Suite struct AdvertisingPlanTests {
    @Test(arguments: planSamples)
    func placesFieldsByPolicy(_ sample: PlanSample) throws {
        let plan = try AdvertisingPlan(
            sample.content, kind: sample.kind, overflow: sample.policy, extended: sample.isExtended)
        func fields(_ place: AdvertisingPlan.Place) -> [String] {
            plan.fields.filter { $0.place == place }.map { "\($0.field.rawValue) \($0.octets)" }
        }
        #expect(fields(.data) == sample.data)
        #expect(fields(.scanResponse) == sample.response)
        #expect((plan.extended == nil ? nil : fields(.extended)) == sample.extended)
        #expect(
            plan.overflow.map { "\($0.field.rawValue) \($0.action.rawValue) \($0.octets)" } == sample.overflow
        )
        if let hex = sample.hex { #expect((plan.extended ?? plan.data) == octets(hex)) }
        checkSizes(of: plan)
    }

    /// Checks that the packets have the sizes of their placements, and do not exceed their limits.
    func checkSizes(of plan: AdvertisingPlan) {
        for (place, packet) in [
            (AdvertisingPlan.Place.data, plan.data), (.scanResponse, plan.scanResponse),
            (.extended, plan.extended ?? []),
        ] {
            #expect(plan.fields.filter { $0.place == place }.reduce(0) { $0 + $1.octets } == packet.count)
            #expect(AdvertisingData(packet).problem == nil)
        }
        #expect(plan.octets <= plan.limit)
        #expect(plan.scanResponse.count <= 31)
        #expect(plan.isInvisibleToLegacyScanners == (plan.extended != nil))
        #expect(plan.extended == nil ? plan.limit == 31 : plan.data.isEmpty && plan.scanResponse.isEmpty)
    }

    @Test func truncatedListsAreMarkedIncomplete() throws {
        let content = content { $0.services = shorts(30) }
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
        #expect(
            AdvertisingData(plan.data).fields.last == .services(.init(.incomplete, Array(shorts(30)[..<13]))))
        #expect(
            AdvertisingData(plan.scanResponse).fields == [
                .services(.init(.incomplete, Array(shorts(30)[13..<27])))
            ])
        #expect(plan.overflow.last == .init(field: .services, action: .dropped, octets: 6))
    }
}
