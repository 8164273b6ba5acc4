import BLE
import BLEAdvertising
import BLECore
import SMP

/// How a command pairs with what came by another way than Bluetooth.
struct OutOfBandArguments {
    /// The file to write for the peer.
    var offer: String?
    /// Whether that has a temporary key for LE legacy pairing.
    var isLegacy = false
    /// The files that peers have given.
    var data: [String] = []

    /// Whether there is any of it.
    var isUsed: Bool { offer != nil || !data.isEmpty }
}

extension OutOfBandArguments {
    /// Checks what can be known without a radio. `readsNow`: the peer's data must be there already.
    func check(readsNow: Bool) throws(Failure) {
        guard !isLegacy || offer != nil else {
            throw Failure(.usage, "--oob-legacy", "needs --oob-offer")
        }
        if readsNow { _ = try records() }
    }

    /// Adds it to how an adapter pairs.
    func apply(to options: inout SecurityOptions) throws(Failure) {
        options.asksForOutOfBandData = !data.isEmpty
        guard offer != nil else { return }
        options.outOfBandOffer =
            isLegacy ? OutOfBandOffer(temporaryKey: .random(in: 1 ... .max)) : OutOfBandOffer()
        guard options.outOfBandOffer != nil else {
            throw Failure(.adapter, "--oob-offer", "this build has no security manager")
        }
    }

    /// Writes the offer of an adapter, if one is wanted.
    func writeOffer(of radio: Radio) async throws(Failure) {
        guard let offer, let record = await radio.adapter.outOfBandRecord else { return }
        do throws(BadInput) {
            try OutOfBandFile.write(record, to: offer)
        } catch {
            throw Failure("--oob-offer \(offer.printable)", error, kind: .input)
        }
    }

    /// Reads the out-of-band data of all files.
    func records() throws(Failure) -> [OutOfBandRecord] {
        var records: [OutOfBandRecord] = []
        for path in data {
            do throws(BadInput) {
                records.append(try OutOfBandFile.read(path))
            } catch {
                throw Failure("--oob-data \(path.printable)", error, kind: .input)
            }
        }
        return records
    }
}

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
