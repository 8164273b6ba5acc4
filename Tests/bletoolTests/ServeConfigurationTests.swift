import BLE
import BLEAdvertising
import BLECore
import GATTServer
import HCI
import Testing

@testable import bletool

/// Parses a configuration whose only files are `small` and `big`, and whose only program is `date`.
func configuration(_ text: String) throws(ConfigurationError) -> ServeConfiguration {
    var context = ConfigurationContext(names: someNames, directory: ".")
    context.contents = { path, limit in
        guard let size = ["small": 3, "big": 513][path], size <= limit else { throw BadInput("no \(path)") }
        return [UInt8](repeating: 7, count: size)
    }
    context.isProgram = { $0 == "date" }
    context.programFolder = nil
    return try ServeConfiguration(Array(text.utf8), context)
}

/// Checks that an accepted configuration becomes a database with exactly its handles.
func expectDatabase(of configuration: ServeConfiguration) {
    do throws(DatabaseError) {
        let services = configuration.services.map { service in
            GATTService(service, among: configuration.services) { _ in (nil, nil) }
        }
        let generic = configuration.hasStandardServices ? GenericServices() : nil
        let database = try AttributeDatabase(services, generic: generic)
        for service in configuration.services {
            #expect(database[service.handle]?.isService == true)
            #expect(database[service.handle]?.groupEnd == service.endHandle)
            for include in service.includes { #expect(database[include.handle]?.type == 0x2802) }
            for characteristic in service.characteristics {
                #expect(database[characteristic.handle]?.type == 0x2803)
                #expect(database[characteristic.valueHandle]?.type == characteristic.uuid)
                for descriptor in characteristic.descriptors {
                    #expect(database[descriptor.handle]?.type == descriptor.uuid)
                }
            }
        }
    } catch {
        Issue.record(error)
    }
}

struct ServeConfigurationTests {
    /// A configuration with many keys.
    static let example = """
        name: Thermometer
        advertise: {services: [1809], interval: 100ms, manufacturer: {0xFFFF: "0102"}, overflow: scan-response}
        security: {io: none, bonding: true, secureConnectionsOnly: false}   # io: none | display
        mtu: 517
        prepareQueue: 64                  # prepared writes that one central may queue
        strict: true                      # false: contradictions are warnings
        standardServices: true            # false: no GAP and GATT services are added
        services:
          - uuid: 1809
            primary: true                 # false: secondary
            handle: 0x0010                # optional: the declaration's handle
            includes: [{handle: 0x0030}]  # or {uuid: 180f}; takes 0x0011 here
            characteristics:
              - uuid: 2a1c
                handle: 0x0012            # optional: the declaration's; valueHandle: too
                properties: [read, write, notify]
                permissions: {read: open, write: encrypted, authorize: false, keySize: 16}
                value: {hex: "0000"}
                length: {max: 512, fixed: false}
                read: {exec: "cat /sys/class/thermal/thermal_zone0/temp"}
                write: {exec: "logger -t ble"}
                notify: {every: 1s, exec: "date", format: u8}
                descriptors:
                  - {uuid: 2901, value: {utf8: "Temperature"}, permissions: {read: open}, handle: 0x0015}
          - {uuid: 180f, handle: 0x0030, characteristics: [{uuid: 2a19, properties: [read], value: {u8: 100}}]}
        """

    @Test("services that overlap, as those of some devices, are served with strict: false")
    func overlappingServicesAreServed() throws {
        let overlapping = try configuration(
            """
            strict: false
            standardServices: false
            services:
              - {uuid: 180f, handle: 1, endHandle: 0xffff}
              - {uuid: 1809, handle: 5, endHandle: 0xffff, uuidBits: 128}
            """)
        #expect(overlapping.services.map(\.endHandle) == [0xffff, 0xffff])
        #expect(overlapping.services.map(\.hasLongUUID) == [false, true])
        expectDatabase(of: overlapping)
    }

    @Test func exampleIsParsed() throws {
        let configuration = try configuration(Self.example)
        #expect(configuration.name == "Thermometer")
        #expect(configuration.advertising.content.services == [0x1809])
        #expect(configuration.advertising.content.manufacturer == [ManufacturerData(.test, [1, 2])])
        #expect(configuration.advertising.interval == .milliseconds(100))
        #expect(configuration.advertising.overflow == .scanResponse)
        let service = try #require(configuration.services.first)
        #expect(service.uuid == 0x1809)
        #expect(service.handle == 0x0010)
        #expect(service.endHandle == 0x0015)
        #expect(service.includes == [.init(handle: 0x0011, service: 1)])
        let characteristic = try #require(service.characteristics.first)
        #expect(characteristic.handle == 0x0012)
        #expect(characteristic.valueHandle == 0x0013)
        #expect(characteristic.properties == [.read, .write, .notify])
        #expect(
            characteristic.permissions == PermissionConfiguration(read: .open, write: .encrypted, keySize: 16)
        )
        #expect(characteristic.value == StoredValue(octets: [0, 0]))
        #expect(
            characteristic.read
                == ValueProgram(program: .shell("cat /sys/class/thermal/thermal_zone0/temp")))
        #expect(characteristic.write == .exec(.shell("logger -t ble")))
        #expect(
            characteristic.notify
                == .every(.seconds(1), .command(ValueProgram(program: .shell("date"), format: .u8))))
        #expect(characteristic.descriptors.map(\.uuid) == [0x2902, 0x2901])
        #expect(characteristic.descriptors.map(\.handle) == [0x0014, 0x0015])
        #expect(characteristic.descriptors[1].value.octets == Array("Temperature".utf8))
        #expect(configuration.services[1].handle == 0x0030)
        #expect(configuration.services[1].endHandle == 0x0032)
        #expect(configuration.services[1].characteristics[0].value.octets == [100])
        expectDatabase(of: configuration)
    }

    @Test(
        "a write program takes each value, or one line for each value",
        arguments: [
            ("{exec: x}", .exec(.shell("x"))), ("{lines: x}", .lines(.shell("x"), .hex)),
            ("{lines: [date], format: u16}", .lines(.arguments(["date"]), .u16)),
        ] as [(String, WriteConfiguration)])
    func writeProgramsAreParsed(yaml: String, expected: WriteConfiguration) throws {
        let configuration = try configuration(
            "services: [{uuid: 180f, characteristics: [{uuid: 2a19, properties: [write], write: \(yaml)}]}]")
        #expect(configuration.services[0].characteristics[0].write == expected)
    }

    @Test("permissions accept the words of --security")
    func permissionsAcceptSecurityWords() throws {
        let configuration = try configuration(
            """
            services:
              - uuid: 180f
                characteristics:
                  - {uuid: 2a19, properties: [read, write], permissions: {read: medium, write: fips}}
            """)
        let permissions = configuration.services[0].characteristics[0].permissions
        #expect(permissions == PermissionConfiguration(read: .encrypted, write: .secureConnections))
    }

    @Test(
        "subscribing requires the security of reading, or its own",
        arguments: [
            ("properties: [read, notify], permissions: {read: encrypted}", .encrypted),
            ("properties: [read, notify], permissions: {read: encrypted, subscribe: open}", .open),
            ("properties: [notify], permissions: {subscribe: authenticated}", .authenticated),
            ("properties: [read, notifyEncryptionRequired]", .encrypted),
            ("properties: [read, notifyEncryptionRequired], permissions: {read: high}", .authenticated),
            ("properties: [read, notify]", .open),
            (
                "properties: [notify], permissions: {subscribe: high}, descriptors: [{uuid: 2902, permissions: {read: open}}]",
                .authenticated
            ),
            (
                "properties: [read, notifyEncryptionRequired], descriptors: [{uuid: 2902, permissions: {read: encrypted}}]",
                .encrypted
            ),
            (
                "properties: [notify], permissions: {subscribe: high}, descriptors: [{uuid: 2902, permissions: {write: open}}]",
                .open
            ),
            ("properties: [read, notifyEncryptionRequired], permissions: {keySize: 16}", .encrypted),
        ] as [(String, SecurityLevel)])
    func subscriptionPermissionIsParsed(yaml: String, expected: SecurityLevel) throws {
        let configuration = try configuration(
            "services: [{uuid: 180f, characteristics: [{uuid: 2a19, \(yaml)}]}]")
        let services = configuration.services.map { service in
            GATTService(service, among: configuration.services) { _ in (nil, nil) }
        }
        let database = try AttributeDatabase(services, generic: nil)
        let descriptor = try #require(database.attributes.first { $0.type == 0x2902 })
        #expect(descriptor.permissions.write == expected)
    }

    @Test func connectionParametersAreParsed() throws {
        let parsed = try configuration(
            "connection: {interval: 30ms-50ms, latency: 4, supervision: 6s}\nservices: []")
        let wish = ConnectionParameters(
            interval: .milliseconds(30) ... .milliseconds(50), latency: 4, supervisionTimeout: .seconds(6))
        #expect(parsed.generic?.preferredConnection == wish)
        #expect(try configuration("services: []").generic?.preferredConnection == nil)
    }

    @Test func emptyConfigurationHasDefaults() throws {
        let configuration = try configuration("services: []")
        #expect(configuration == ServeConfiguration())
    }

    @Test(arguments: [
        (#""Hi""#, "4869"), ("Hi", "4869"), (#"{hex: "00ff"}"#, "00ff"), ("{hex: 0102}", "0102"),
        ("{utf8: 12}", "3132"),
        ("{u8: 0x64}", "64"), ("{u16: [1, 2]}", "01000200"), ("{i16: -1}", "ffff"),
        ("{f32: 1.5}", "0000c03f"),
        ("{sfloat: 36.7}", "6ff1"), ("{float: NaN}", "ffff7f00"), ("{file: small}", "070707"), (#""""#, ""),
        ("{utf8: \"\"}", ""),
    ])
    func valueFormsAreParsed(yaml: String, hex: String) throws {
        let configuration = try configuration(
            "services: [{uuid: 180f, characteristics: [{uuid: 2a19, properties: [read], value: \(yaml)}]}]")
        #expect(configuration.services[0].characteristics[0].value.octets.hex == hex)
    }

    @Test func propertiesImplyPermissionsAndDescriptors() throws {
        let configuration = try configuration(
            """
            standardServices: false
            services:
              - uuid: Battery Service
                characteristics:
                  - {uuid: battery_level, properties: [read]}
                  - {uuid: fff1, properties: [writeWithoutResponse, indicate, extended, broadcast]}
                  - uuid: fff2
                    properties: [notifyEncryptionRequired]
                    descriptors: [{uuid: 2901, handle: 0x000c, value: x}]
            """)
        let all = configuration.services[0].characteristics
        #expect(all[0].permissions == PermissionConfiguration(read: .open))
        #expect(all[1].permissions == PermissionConfiguration(write: .open))
        #expect(all[1].descriptors.map(\.uuid) == [0x2900, 0x2902, 0x2903])
        #expect(all[1].descriptors.map(\.permissions) == [nil, nil, nil])
        #expect(all[1].descriptors.map(\.handle) == [0x0006, 0x0007, 0x0008])
        // The handle before the descriptor with an explicit handle is free, so 2902 is placed before it.
        #expect(all[2].descriptors.map(\.uuid) == [0x2902, 0x2901])
        #expect(all[2].descriptors.map(\.handle) == [0x000b, 0x000c])
        expectDatabase(of: configuration)
    }

    @Test(
        "a property that requires encryption protects only the subscription",
        arguments: [
            ("notify", .notify, nil), ("notifyEncryptionRequired", .notify, .encrypted),
            ("indicate", .indicate, nil), ("indicateEncryptionRequired", .indicate, .encrypted),
            ("notifyEncryptionRequired, indicate", [.notify, .indicate], .encrypted),
        ] as [(String, CharacteristicProperties, SecurityLevel?)])
    func encryptionPropertyProtectsSubscription(
        _ words: String, _ properties: CharacteristicProperties, _ level: SecurityLevel?
    ) throws {
        let configuration = try configuration(
            "services: [{uuid: 180f, characteristics: [{uuid: 2a19, properties: [read, \(words)], value: {u8: 7}}]}]"
        )
        let service = GATTService(configuration.services[0], among: configuration.services) { _ in (nil, nil)
        }
        let characteristic = try #require(service.characteristics.first)
        #expect(characteristic.subscription == level)
        #expect(characteristic.properties == properties.union(.read))
        #expect(characteristic.permissions?.read == .open)
        expectDatabase(of: configuration)
    }

    @Test func missingDescriptorsGetFreeHandles() throws {
        let configuration = try configuration(
            """
            services:
              - uuid: 180f
                handle: 0x0010
                characteristics:
                  - uuid: 2a19
                    properties: [notify]
                    descriptors: [{uuid: 2901, handle: 0x0013, value: x}, {uuid: 2904, value: {hex: 04002727010000}}]
            """)
        let descriptors = configuration.services[0].characteristics[0].descriptors
        #expect(descriptors.map(\.uuid) == [0x2901, 0x2904, 0x2902])
        #expect(descriptors.map(\.handle) == [0x0013, 0x0014, 0x0015])
        #expect(configuration.services[0].endHandle == 0x0015)
    }

    @Test func includesAreResolvedByUUID() throws {
        let configuration = try configuration(
            """
            services:
              - {uuid: 1809, includes: [{uuid: Battery Service}]}
              - {uuid: 180f, primary: false}
            """)
        #expect(configuration.services[0].includes == [.init(handle: 0x0011, service: 1)])
        #expect(!configuration.services[1].isPrimary)
    }

    @Test func valueLengthsAreParsed() throws {
        let configuration = try configuration(
            """
            services:
              - uuid: 180f
                characteristics:
                  - {uuid: fff1, properties: [write], length: {max: 4, fixed: true}}
                  - {uuid: fff2, properties: [write], length: {fixed: true}, value: {u16: 1}}
                  - {uuid: fff3, properties: [notify], notify: {every: 1s, counter: u16}}
            """)
        let values = configuration.services[0].characteristics.map(\.value)
        #expect(values[0] == StoredValue(octets: [0, 0, 0, 0], maximum: 4, isFixed: true))
        #expect(values[1] == StoredValue(octets: [1, 0], maximum: 2, isFixed: true))
        #expect(values[2] == StoredValue(octets: [0, 0]))
    }

    @Test func beaconsAreParsed() throws {
        let configuration = try configuration(
            """
            name: Lamp
            services: [{uuid: 180f}]
            advertise: {services: [180f], preset: low-power}
            beacons:
              - {ibeacon: "e2c56db5-dffb-48d2-b060-d0f5a71096e0,1,2,-59", preset: background, channels: [37, 39]}
              - {name: Other, type: scannable, secondaryPhy: 2m, sid: 3, interval: 20s}
              - {name: T, interval: 20s, url: "https://example.org/a/long/way", periodic: {interval: 100ms, serviceData: {180f: "64"}, txPower: true}}
            """)
        #expect(configuration.advertising.interval == .microseconds(417_500))
        let beacons = configuration.beacons
        #expect(beacons.map(\.kind) == [.nonconnectable, .scannable, .nonconnectable])
        #expect(beacons.map(\.interval) == [.microseconds(1_022_500), .seconds(20), .seconds(20)])
        #expect(beacons.map(\.content.name) == [nil, "Other", "T"])
        #expect(beacons[0].channels == [.channel37, .channel39])
        #expect(beacons[1].secondaryPHY == .le2M && beacons[1].sid == 3 && beacons[1].usesExtended)
        var train = PeriodicAdvertisingTrain([4, 0x16, 0x0f, 0x18, 0x64], every: .milliseconds(100))
        train.includesTxPower = true
        #expect(try beacons[2].checkedRequest().periodic == train)
    }
}
