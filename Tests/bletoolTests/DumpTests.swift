import ATT
import BLECore
import GATTClient
import Testing

@testable import bletool

/// `gatt … dump`: the configuration that describes the attributes of a device.
struct DumpTests {
    private func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(number) }

    /// Returns a service with one characteristic and its descriptors at consecutive handles, which begin with
    /// `first`.
    private func service(
        _ uuid: BluetoothUUID = 0x1809, at first: UInt16, _ properties: CharacteristicProperties,
        descriptors: [BluetoothUUID] = [], end: UInt16? = nil
    ) -> RemoteService {
        let last = first + 2 + UInt16(descriptors.count)
        return RemoteService(
            uuid: uuid, handle: handle(first), endHandle: handle(end ?? last),
            characteristics: [
                RemoteCharacteristic(
                    uuid: 0x2a6e, handle: handle(first + 1), valueHandle: handle(first + 2),
                    endHandle: handle(last), properties: properties,
                    descriptors: descriptors.enumerated().map {
                        RemoteDescriptor(uuid: $1, handle: handle(first + 3 + UInt16($0)))
                    })
            ])
    }

    private func image(
        _ services: [RemoteService], _ values: [UInt16: [UInt8]] = [:]
    ) throws -> DeviceImage {
        let address = try #require(DeviceAddress("C0:00:00:00:00:01/random"))
        var image = DeviceImage(address: address, database: RemoteDatabase(services: services))
        for (number, value) in values { image.shown[handle(number)] = .init(value: value) }
        return image
    }

    private func lines(_ image: DeviceImage) throws -> [String] {
        Array(try ClonedConfiguration(image).yaml.drop { $0.hasPrefix("#") })
    }

    @Test func deviceWithoutGenericServicesIsClonedExactly() throws {
        let image = try image(
            [service(at: 5, [.read, .notify], descriptors: [0x2902, 0x2901])],
            [
                7: [0xb2, 0x08], 9: Array("Room".utf8),
            ])
        #expect(
            try lines(image) == [
                "advertise: {}  # no advertisement of it was received; a link does not show it",
                "standardServices: false",
                "services:",
                "  - uuid: 1809  # Health Thermometer",
                "    handle: 0x0005",
                "    characteristics:",
                "      - uuid: 2a6e  # Temperature",
                "        handle: 0x0006",
                "        properties: [read, notify]",
                "        value: {hex: \"b208\"}  # 22.26 °C",
                "        descriptors:",
                "          - {uuid: 2902, handle: 0x0008}  # Client Characteristic Configuration",
                "          - {uuid: 2901, handle: 0x0009, value: {utf8: \"Room\"}}  # Characteristic User Description",
            ])
        #expect(try ClonedConfiguration(image).fidelity == .exact)
    }

    @Test func contradictoryDeviceIsClonedAsFound() throws {
        let image = try image(
            [service(at: 5, .read, descriptors: [0x2902, 0x2904, 0x2901, 0x2901])], [9: [1]])
        let clone = try ClonedConfiguration(image)
        #expect(clone.fidelity == .contradictory(hasStandardServices: false))
        #expect(clone.yaml.contains("strict: false  # the device contradicts itself"))
        #expect(
            clone.yaml.suffix(4) == [
                "          - {uuid: 2902, handle: 0x0008}  # Client Characteristic Configuration",
                "          - {uuid: 2904, handle: 0x0009, value: {hex: \"01\"}}  # Characteristic Presentation Format",
                "          - {uuid: 2901, handle: 0x000a}  # Characteristic User Description",
                "          - {uuid: 2901, handle: 0x000b}  # Characteristic User Description",
            ])
    }

    @Test func missingDescriptorsStayMissing() throws {
        // A characteristic with notifications but without 0x2902, directly followed by the next service.
        let image = try image([service(at: 1, .notify), service(0x180f, at: 4, .read)])
        let clone = try ClonedConfiguration(image)
        #expect(clone.fidelity == .contradictory(hasStandardServices: false))
        #expect(clone.yaml.contains("standardDescriptors: false"))
    }

    /// A value that is readable by its properties, but refused on every link, is the same in the clone.
    @Test func unreadableValueIsClonedWithoutReadPermission() throws {
        var image = try image([service(at: 5, .read)])
        image.shown[handle(7)] = DeviceImage.Shown(.readNotPermitted, at: .open)
        let clone = try ClonedConfiguration(image)
        #expect(clone.fidelity == .contradictory(hasStandardServices: false))
        #expect(clone.yaml.contains("        permissions: {read: none}"))
    }

    @Test func advertisingDataIsCloned() throws {
        var image = try image([service(at: 5, .read)])
        image.advertised = .init(data: [2, 1, 6], scanResponse: [], isExtended: false)
        #expect(try lines(image)[0] == #"advertise: {raw: "020106"}"#)
        image.advertised?.scanResponse = [2, 9, 0x41]
        #expect(try lines(image)[0] == #"advertise: {raw: "020106", rawScanResponse: "020941"}"#)
        image.advertised = .init(data: [2, 1, 6], scanResponse: nil, isExtended: true)
        #expect(try lines(image)[0] == #"advertise: {raw: "020106", extended: true}"#)
        image.advertised = .init(data: [3, 1, 6], scanResponse: nil, isExtended: false)
        #expect(try lines(image)[0] == "advertise: {}  # what it advertises is malformed: 030106")
    }

    @Test func nonascendingHandlesAreReassigned() throws {
        // The handle of the value is lower than that of its declaration.
        var service = service(at: 1, .read)
        service.characteristics[0].valueHandle = handle(1)
        let clone = try ClonedConfiguration(image([service, self.service(0x180f, at: 4, .read)]))
        guard case .moved(let reason) = clone.fidelity else {
            Issue.record("\(clone.fidelity)")
            return
        }
        #expect(reason.contains("0x0001"), "\(reason)")
        #expect(!clone.yaml.contains { $0.contains("handle:") })
    }

    @Test(
        arguments: [
            (ATTErrorCode.readNotPermitted, SecurityLevel.open, "{read: none}"),
            (.insufficientEncryption, .open, "{read: encrypted}"),
            (.insufficientAuthentication, .open, "{read: encrypted}"),
            (.insufficientAuthentication, .encrypted, "{read: authenticated}"),
            (.encryptionKeySizeTooShort, .encrypted, "{read: encrypted, keySize: 16}"),
            (.insufficientAuthorization, .open, nil),
        ] as [(ATTErrorCode, SecurityLevel, String?)])
    func readErrorDeterminesPermission(_ code: ATTErrorCode, _ link: SecurityLevel, _ permissions: String?)
        throws
    {
        var image = try image([service(at: 5, .read)])
        image.shown[handle(7)] = DeviceImage.Shown(code, at: link)
        let lines = try lines(image)
        #expect(
            lines.first { $0.contains("permissions") } == permissions.map { "        permissions: \($0)" })
        #expect(lines.last == "        value: {hex: \"\"}  # not read: \(code)")
    }

    @Test func receivedTextCannotBreakLines() throws {
        var image = try image(
            [service(at: 5, .read, descriptors: [0x2901])],
            [7: Array("a\n- b".utf8), 8: Array("\u{202e}x\"".utf8)])
        image.shown[handle(7)]?.reason = nil
        let lines = try lines(image)
        #expect(lines.contains(#"        value: {hex: "610a2d2062"}"#))
        #expect(lines.last?.contains(#"value: {hex: "e280ae7822"}"#) == true)
    }
}
