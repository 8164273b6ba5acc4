import BLECore

/// Apple's room for what an application advertises (`CBPeripheralManager.startAdvertising`).
enum AppleAdvertisingRules {
    /// Octets of the packet beside the flags.
    static let octets = 28
    /// Octets of the name in the scan response, length and type not counted; nothing else may be there.
    static let nameOctets = 10
}

extension AdvertisingPlanner {
    /// What Core Bluetooth would send for an application in the foreground: services as far as they go, then the name
    /// if it fits whole, else its first octets in the scan response. Services that find no room are left out and said to be:
    /// Apple's overflow area, where they would go, has no published rule.
    func appleDraft() throws(AdvertisingPlanError) -> Draft {
        if let other = pieces.first(where: { ![.flags, .services, .name].contains($0.field) }) {
            throw .invalid(other.field, .appleField)
        }
        if let rawScanResponse {
            throw .invalid(rawScanResponse.field, .appleScanResponse)
        }
        var draft = Draft(data: pieces.filter { $0.field == .flags })
        let limit = min(limits.data, draft.data.octets + AppleAdvertisingRules.octets)
        for list in pieces {
            guard case .field(.services(let all)) = list.value else { continue }
            let count = all.fitting(limit - draft.data.octets, from: 0)
            if count > 0 { draft.data.append(Piece(services: all, 0..<count)) }
            let dropped = (all.uuids.count - count) * all.width.rawValue
            if dropped > 0 {
                draft.overflow.append(.init(field: .services, action: .dropped, octets: dropped))
            }
        }
        guard let name = pieces.last, name.field == .name else { return draft }
        if name.octets <= limit - draft.data.octets {
            draft.data.append(name)
            return draft
        }
        guard kind != .nonconnectable else { throw .noScanResponse(shortage(limit)) }
        // Two octets are its length and type.
        let room = min(limits.scanResponse, AppleAdvertisingRules.nameOctets + 2)
        guard let short = name.octets <= room ? name : name.shortened(to: room) else {
            throw .overflow(shortage(room))
        }
        draft.scanResponse = [short]
        draft.overflow.append(.init(field: .name, action: .scanResponse, octets: short.octets))
        if short.octets < name.octets {
            draft.overflow.append(
                .init(field: .name, action: .shortened, octets: name.octets - short.octets))
        }
        return draft
    }
}
