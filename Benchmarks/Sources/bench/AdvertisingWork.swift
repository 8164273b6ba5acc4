import BLEAdvertising
import BLECore
import HCI

/// Measures the work of a scan for each packet that the controller reports.
func measureAdvertising(_ meter: inout Meter) {
    let payload: [UInt8] =
        [0x02, 0x01, 0x06] + [0x05, 0x03, 0x09, 0x18, 0x0f, 0x18]
        + [0x0c, 0x09] + Array("Thermometer".utf8) + [0x08, 0xff, 0xff, 0xff, 0x01, 0x02, 0x03, 0x04, 0x05]
    precondition(payload.count == 31)
    let address: [UInt8] = [0x06, 0x05, 0x04, 0x03, 0x02, 0xc1]
    let event: [UInt8] = [0x02, 0x01, 0x00, 0x01] + address + [UInt8(payload.count)] + payload + [0xc8]
    let data = AdvertisingData(payload)

    meter.measure("31 octets into the fields asked for", allocations: 1) {
        keep(data.flags)
        keep(data.offers(0x1809))
        keep(data.localName)
    }
    meter.measure("LE Advertising Report, 31 octets", allocations: 1) {
        try? AdvertisingReport.forEach(in: event.span) { keep($0) }
    }
    // Fields that a filter and a table of devices use, such as services and name.
    meter.measure("one advertisement, from HCI event to fields", allocations: 2) {
        try? AdvertisingReport.forEach(in: event.span) { report in
            let data = AdvertisingData(report.data)
            keep(report.address)
            keep(data.flags)
            keep(data.offers(0x1809))
            keep(data.localName)
        }
    }
}
