import BLEAdvertising
import BLECore

/// Checks that each field of any payload is a beacon, not a beacon, or an error with an offset in the
/// payload, and that each reading of a beacon has a name and a value as text. A wrong key does not decrypt a beacon.
public func fuzzBeacons(_ bytes: Span<UInt8>) {
    let data = AdvertisingData(copying: bytes)
    check(data.beacons, bytes.count)

    // The same octets as the content of each format's fields, so that the fuzzer need not find the
    // identifiers first.
    let octets = [UInt8](copying: bytes)
    for company in [0x004c, 0x0118, 0x0499] as [CompanyIdentifier] {
        check(
            attempt { () throws(DecodeError) in try Beacon(ManufacturerData(company, octets)) }, octets.count)
    }
    for service in [EddystoneFrame.service, BTHome.service] {
        check(attempt { () throws(DecodeError) in try Beacon(ServiceData(service, octets)) }, octets.count)
    }
}

private func attempt(_ body: () throws(DecodeError) -> Beacon?) -> [Result<Beacon, DecodeError>] {
    do throws(DecodeError) {
        return try body().map { [.success($0)] } ?? []
    } catch {
        return [.failure(error)]
    }
}

private func check(_ beacons: [Result<Beacon, DecodeError>], _ count: Int) {
    for result in beacons {
        switch result {
        case .success(let beacon):
            precondition(beacon.readings.allSatisfy { !$0.name.isEmpty && !"\($0.value)".isEmpty })
            guard case .bthome(let packet) = beacon else { continue }
            precondition((packet.sealed != nil) == packet.information.isEncrypted)
            precondition(packet.objects.count <= count)
            // A wrong key must not match the tag, which has 32 bits.
            if packet.sealed != nil {
                precondition((try? packet.opened(with: 0, from: .randomStatic(1))) == nil)
            }
        case .failure(let error):
            precondition(0...count ~= error.offset)
            precondition(!error.description.isEmpty)
        }
    }
}
