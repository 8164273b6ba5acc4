import BLEAdvertising
import BLECore

/// Whatever a payload holds, each of its fields is a beacon, none, or an error within the field, and every beacon can be
/// said in words; what an encrypted one holds is any bytes, too.
public func fuzzBeacons(_ bytes: Span<UInt8>) {
    let data = AdvertisingData(copying: bytes)
    check(data.beacons, bytes.count)

    // The same bytes as what each format's fields hold, so that no time goes by in looking for the way in.
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
            guard case .bthome(let news) = beacon else { continue }
            precondition((news.sealed != nil) == news.information.isEncrypted)
            precondition(news.objects.count <= count)
            // A tag of 32 bits is not guessed.
            if news.sealed != nil {
                precondition((try? news.opened(with: 0, from: .randomStatic(1))) == nil)
            }
        case .failure(let error):
            precondition(0...count ~= error.offset)
            precondition(!error.description.isEmpty)
        }
    }
}
