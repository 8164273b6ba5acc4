import BLEAdvertising
import BLECore

/// The keys with which sensors encrypt their data, from `--bindkey`.
struct BindKeys: Hashable, Sendable {
    /// The keys that are tried for any sensor.
    private var common: [UInt128] = []
    /// The keys of single sensors, by address.
    private var own: [UInt64: UInt128] = [:]

    init() {}

    /// Parses keys of the form `HEX`, or `ADDRESS=HEX`.
    init(texts: [String]) throws(BadInput) {
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let last = parts.last, let octets = [UInt8](hex: last), octets.count == 16 else {
                throw BadInput(
                    "\(text.quoted) is not a key",
                    hint: "a key is 32 hexadecimal digits; AA:BB:CC:DD:EE:FF=KEY is that of one sensor")
            }
            let key = octets.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            guard parts.count == 2 else {
                common.append(key)
                continue
            }
            guard let address = DeviceAddress.bits(parts[0]) else {
                throw BadInput("\(parts[0].quoted) is not an address", hint: "AA:BB:CC:DD:EE:FF=KEY")
            }
            guard own.updateValue(key, forKey: address) == nil else {
                throw BadInput("\(parts[0].quoted) has two keys")
            }
        }
    }

    /// Returns a sensor's data, decrypted if a key is correct, otherwise with the reason why they are not.
    func opened(_ packet: BTHome, from senders: [DeviceAddress?]) -> (packet: BTHome, problem: String?) {
        guard packet.sealed != nil else { return (packet, nil) }
        var problem = "no --bindkey is given for it"
        for address in packet.address.map({ [$0] }) ?? senders.compactMap({ $0 }) {
            for key in own[address.value].map({ [$0] }) ?? common {
                do throws(BTHomeKeyError) {
                    return (try packet.opened(with: key, from: address), nil)
                } catch {
                    problem = error.description
                }
            }
        }
        return (packet, problem)
    }
}
