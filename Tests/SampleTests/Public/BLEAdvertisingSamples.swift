import BLE

/// Samples of the module BLEAdvertising.
struct BLEAdvertisingSamples {
    let found: Advertisement

    func open(key: UInt128) throws {
        // Sources/BLEAdvertising/Beacons/BTHome.swift
        for case .success(.bthome(var packet)) in found.fields.beacons {
            if packet.isEncrypted { packet = try packet.opened(with: key, from: found.address) }
            for case .measurement(.temperature, let value) in packet.objects { print(value) }  // 25.06 °C
        }
        // .
    }

    func url() throws {
        // Sources/BLEAdvertising/Beacons/EddystoneURL.swift
        var content = AdvertisingContent()
        content.eddystoneURL = try EddystoneURL("https://example.com/a")
        // .
        handle(content)
    }

    func uri() {
        // Sources/BLEAdvertising/Data/AdvertisedURI.swift
        var content = AdvertisingContent()
        content.uri = AdvertisedURI("https://example.org")  // 14 octets: the scheme takes one
        // .
        handle(content)
    }

    func serviceData() {
        // Sources/BLEAdvertising/Data/ServiceData.swift
        var content = AdvertisingContent()
        content.serviceData = [ServiceData(0x180f, [80])]
        // .
        handle(content)
    }

    // swift-format-ignore
    @Expressions func read() {
        // Sources/BLEAdvertising/Data/AdvertisingData.swift
        let data = AdvertisingData([0x02, 0x01, 0x06, 0x05, 0x09, 0x50, 0x75, 0x6c, 0x73])
        data.flags            // [.leGeneralDiscoverable, .brEDRNotSupported]
        data.localName?.text  // "Puls"
        for structure in data.structures { print(structure.type, data.bytes[structure.content]) }
        data.problem          // nil
        // .
    }

    // swift-format-ignore
    @Expressions func plan() throws {
        // Sources/BLEAdvertising/Data/AdvertisingPlan.swift
        var content = AdvertisingContent()
        content.name = "Thermometer in the kitchen"
        content.services = [0x1809]
        let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
        plan.data          // 7 octets: flags and services
        plan.scanResponse  // 28 octets: the name
        plan.fields        // flags 3 data, services 4 data, name 28 scan-response
        plan.overflow      // name scan-response 28
        // .
    }

    func overflow(myService: BluetoothUUID) {
        // Sources/BLEAdvertising/Data/AppleOverflowArea.swift
        let area = found.fields.manufacturerData.compactMap { AppleOverflowArea($0) }.first
        if area?.services(in: [13: myService]) == [myService] { print("an application in the background") }
        // .
    }
}
