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
            if overflow.field == .raw || overflow.limit > 31 { return nil }
            let others: [OverflowPolicy] =
                switch self {
                case .fail: (overflow.field == .name ? [.shortenName] : []) + [.scanResponse, .extended]
                case .shortenName: [.scanResponse, .extended]
                case .scanResponse: [.extended]
                case .extended: []
                }
            guard !others.isEmpty else { return nil }
            return "\(key)\(others.map(\.rawValue).joined(lastBy: "or")) makes room"
        }
    }
}
