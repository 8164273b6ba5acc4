import BLEAdvertising
import BLECore

extension OverflowPolicy {
    /// What else could be done about content that this policy cannot place; `key` is how the policy is
    /// named where the user writes it.
    func hint(for error: AdvertisingPlanError, key: String) -> String? {
        switch error {
        case .malformed, .invalid: return nil
        case .noScanResponse(let overflow) where overflow.limit == 0:
            return "only connectable and scannable advertisements of legacy packets have a scan response"
        case .noScanResponse: return "\(key)\(Self.extended.rawValue) makes room"
        case .overflow(let overflow):
            // One packet of connectable advertising, or one field.
            if [AdvertisingLimits(for: .connectable).extended, 256].contains(overflow.limit) {
                let most = AdvertisingLimits(for: .nonconnectable).extended
                return "extended, nonconnectable advertising has \(most) octets, in fields of 256 at most"
            }
            if overflow.limit > 31 { return nil }
            // A raw packet cannot be divided.
            if overflow.field == .raw { return "\(key)\(Self.extended.rawValue) makes room" }
            let isNameTooLong = overflow.field == .name && overflow.total - overflow.octets + 3 <= 31
            let shortens: [OverflowPolicy] = isNameTooLong ? [.shortenName] : []
            // A field goes to the scan response as it is.
            let moves: [OverflowPolicy] = overflow.octets <= 31 ? [.scanResponse] : []
            let others: [OverflowPolicy] =
                switch self {
                case .fail: shortens + moves + [.extended]
                case .shortenName: moves + [.extended]
                case .scanResponse: shortens + [.extended]
                case .extended, .apple: []
                }
            guard !others.isEmpty else { return nil }
            return "\(key)\(others.map(\.rawValue).joined(lastBy: "or")) makes room"
        }
    }
}
