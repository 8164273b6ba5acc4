import BLEAdvertising
import BLECore

/// The fields of any payload encode to its octets up to its end, its early termination, or the first octet
/// that is not in a field. All properties that read the payload agree with the fields.
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

    // A URI that is written as text and read again has the same text. A beacon encodes to the octets from
    // which it was decoded.
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

/// Checks that a raw packet is used unchanged or refused.
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
