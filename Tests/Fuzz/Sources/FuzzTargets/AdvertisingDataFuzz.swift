import BLEAdvertising
import BLECore

/// The fields of any payload, encoded again, are its octets up to its end, its early termination, or what
/// is not a field; and every way to read it agrees with them.
public func fuzzAdvertisingData(_ bytes: Span<UInt8>) {
    let data = AdvertisingData(copying: bytes)
    let fields = data.fields
    let end = data.significantCount

    guard let again = try? AdvertisingData(fields) else { preconditionFailure("a field grew") }
    precondition(again.bytes.elementsEqual(data.bytes[..<end]))
    precondition(again.fields == fields && again.problem == nil)
    precondition((data.problem == nil) == data.bytes[end...].allSatisfy { $0 == 0 })
    for problem in data.problems { precondition(0...bytes.count ~= problem.offset) }

    let names = fields.compactMap { if case .name(let name) = $0 { name } else { nil } }
    precondition(data.localName == names.first(where: \.isComplete) ?? names.first)
    let powers = fields.compactMap { if case .txPower(let power) = $0 { power } else { nil } }
    precondition(data.txPower == powers.first)
    let uris = fields.compactMap { if case .uri(let uri) = $0 { uri } else { nil } }
    precondition(data.uri == uris.first)
    precondition(data.serviceUUIDs.allSatisfy(data.offers))

    // What people read of a URI or a beacon and write again means the same.
    if let uri = data.uri?.text {
        precondition(AdvertisedURI(AdvertisedURI(uri).text).text == AdvertisedURI(uri).text)
    }
    for manufacturer in data.manufacturerData {
        if let beacon = IBeacon(manufacturer) { precondition(beacon.manufacturerData == manufacturer) }
    }
    for service in data.serviceData {
        if let beacon = EddystoneURL(service) { precondition(beacon.serviceData.data == service.data) }
    }

    fuzzRawPlan(data)
}

/// A raw packet passes untouched, or is refused.
private func fuzzRawPlan(_ data: AdvertisingData) {
    var content = AdvertisingContent()
    content.raw = data.bytes
    do throws(AdvertisingPlanError) {
        let plan = try AdvertisingPlan(content, kind: .nonconnectable, overflow: .extended)
        precondition((plan.extended ?? plan.data) == data.bytes)
    } catch {
        precondition(data.problem != nil || data.bytes.count > 1650)
    }
}
