import BLEAdvertising
import BLECore
import SMP

/// A file that two devices pair with: the AD structures of an out-of-band record, as hex in one line, or as they are,
/// which is what an NFC tag holds.
enum OutOfBandFile {
    /// Reads what a peer has given.
    static func read(_ path: String) throws(BadInput) -> OutOfBandRecord {
        let octets = try File.contents(path, limit: 4096)
        let digits = octets.filter { !" \t\r\n".utf8.contains($0) }
        do throws(DecodeError) {
            let record = [UInt8](hex: String(decoding: digits, as: UTF8.self)) ?? octets
            return try OutOfBandRecord(AdvertisingData(record))
        } catch {
            throw BadInput("is no out-of-band record: \(error)")
        }
    }

    /// Writes what a peer is to be given, for its owner alone.
    static func write(_ record: OutOfBandRecord, to path: String) throws(BadInput) {
        try File.replace(path, with: Array("\(record.advertisingData.bytes.hex)\n".utf8))
    }
}

extension [OutOfBandRecord] {
    /// What the device with that address has given. Its record may have come without an address, or with the one that
    /// it has behind a private one; one that is not the peer's ends the pairing, so nothing is lost by trying.
    func data(of peer: DeviceAddress) -> OutOfBandData? {
        let record =
            first { $0.address == peer } ?? first { $0.address == nil }
            ?? (peer.kind == .resolvable ? first : nil)
        return record?.data
    }
}
