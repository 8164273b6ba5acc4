import BLE
import BLEAdvertising
import BLECore
import SMP

/// The options of a command for pairing out of band.
struct OutOfBandArguments {
    /// The file to write for the peer.
    var offer: String?
    /// Whether the offer has a temporary key for LE legacy pairing.
    var isLegacy = false
    /// The files with the data of peers.
    var data: [String] = []

    /// Whether any of the options is used.
    var isUsed: Bool { offer != nil || !data.isEmpty }
}

extension OutOfBandArguments {
    /// Checks the options as far as possible without a radio. If `readsNow`, the peer's data must exist
    /// already.
    func check(readsNow: Bool) throws(Failure) {
        guard !isLegacy || offer != nil else {
            throw Failure(.usage, "--oob-legacy", "needs --oob-offer")
        }
        if readsNow { _ = try records() }
        if let offer, OutOfBandFile.isOther(offer) {
            throw Failure(
                .input, "--oob-offer \(offer.printable)", "the file exists and is no out-of-band record",
                hint: "only a record is replaced: name another file, or remove this one")
        }
    }

    /// Reports the files that cannot be read yet, for a server, which reads them when a device pairs.
    func noteUnreadable(on console: Console) {
        for path in data {
            do throws(Failure) {
                _ = try OutOfBandFile.record(in: path)
            } catch {
                console.note("\(error.what): \(error.why); it is read again when a device pairs")
            }
        }
    }

    /// Adds the options to the security options of an adapter.
    func apply(to options: inout SecurityOptions) throws(Failure) {
        options.asksForOutOfBandData = !data.isEmpty
        guard offer != nil else { return }
        options.outOfBandOffer =
            isLegacy ? OutOfBandOffer(temporaryKey: .random(in: 1 ... .max)) : OutOfBandOffer()
        guard options.outOfBandOffer != nil else {
            throw Failure(.adapter, "--oob-offer", "this build has no security manager")
        }
    }

    /// Writes the offer of an adapter, if one is requested.
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
        for path in data { records.append(try OutOfBandFile.record(in: path)) }
        return records
    }
}

/// A file for pairing: the AD structures of an out-of-band record, as hex in one line or in binary, as on an
/// NFC tag.
enum OutOfBandFile {
    /// Reads the record of a peer.
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

    /// Reads the record of a peer from a file that --oob-data names.
    static func record(in path: String) throws(Failure) -> OutOfBandRecord {
        do throws(BadInput) {
            return try read(path)
        } catch {
            throw Failure("--oob-data \(path.printable)", error, kind: .input)
        }
    }

    /// Whether a path has content other than an out-of-band record.
    static func isOther(_ path: String) -> Bool { File.hasContent(path) && (try? read(path)) == nil }

    /// Writes the record for a peer. Only the file's owner can read it.
    static func write(_ record: OutOfBandRecord, to path: String) throws(BadInput) {
        try File.replace(path, with: Array("\(record.advertisingData.bytes.hex)\n".utf8))
    }
}

extension [OutOfBandRecord] {
    /// Returns the data of the device with that address. The record may be without an address, or have the
    /// identity address of a private address. A record that is not the peer's ends the pairing, so nothing is
    /// lost by trying it.
    func data(of peer: DeviceAddress) -> OutOfBandData? {
        let record =
            first { $0.address == peer } ?? first { $0.address == nil }
            ?? (peer.kind == .resolvable ? first : nil)
        return record?.data
    }
}
