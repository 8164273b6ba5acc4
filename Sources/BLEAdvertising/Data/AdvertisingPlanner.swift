import BLECore

/// Decides the packet of each field. `pieces` are in the order of the packet, the least important last.
struct AdvertisingPlanner {
    typealias Piece = AdvertisingPlan.Piece

    let pieces: [Piece]
    let kind: AdvertisingKind
    let policy: OverflowPolicy
    let limits: AdvertisingLimits
    let rawScanResponse: Piece?

    struct Draft {
        var data: [Piece]
        var scanResponse: [Piece] = []
        var isExtended = false
        var overflow: [AdvertisingPlan.Overflow] = []
    }

    func draft(extended: Bool) throws(AdvertisingPlanError) -> Draft {
        if extended { return try extendedDraft() }
        if policy != .apple, pieces.fit(limits.data) {
            return Draft(data: pieces, scanResponse: rawScanResponse.map { [$0] } ?? [])
        }
        switch policy {
        case .fail: throw .overflow(shortage(limits.data))
        case .shortenName:
            var draft = try shortened(to: limits.data)
            draft.scanResponse = rawScanResponse.map { [$0] } ?? []
            return draft
        case .scanResponse:
            guard kind != .nonconnectable, rawScanResponse == nil else {
                throw .noScanResponse(shortage(limits.data))
            }
            guard let draft = moved() ?? cut() else {
                var shortage = shortage(max(limits.data, limits.scanResponse))
                (shortage.limit, shortage.scanResponseLimit) = (limits.data, limits.scanResponse)
                throw .overflow(shortage)
            }
            return draft
        case .extended: return try extendedDraft()
        case .apple: return try appleDraft()
        }
    }

    // MARK: Extended packets

    private func extendedDraft() throws(AdvertisingPlanError) -> Draft {
        if policy == .apple {
            throw .invalid(pieces.first?.field ?? .flags, .appleExtended)
        }
        if let rawScanResponse {
            guard kind == .scannable else {
                throw .noScanResponse(.init(.rawScanResponse, octets: rawScanResponse.octets, limit: 0))
            }
            // A scannable set has only a scan response, which is then this one.
            if let other = pieces.first { throw .invalid(.rawScanResponse, .rawBeside(other.field)) }
            return Draft(data: [rawScanResponse], isExtended: true)
        }
        guard pieces.fit(limits.extended) else {
            guard policy == .shortenName else { throw .overflow(shortage(limits.extended)) }
            var draft = try shortened(to: limits.extended)
            draft.isExtended = true
            return draft
        }
        let overflow = policy == .extended ? pieces.leaving(limits.data) : []
        return Draft(
            data: pieces, isExtended: true,
            overflow: overflow.map { .init(field: $0.field, action: .extended, octets: $0.octets) })
    }

    // MARK: A shorter name

    private func shortened(to limit: Int) throws(AdvertisingPlanError) -> Draft {
        let others = pieces.filter { $0.field != .name }
        guard let name = pieces.last, name.field == .name, others.fit(limit) else {
            throw .overflow(others.shortage(limit, of: pieces))
        }
        let short = name.shortened(to: limit - others.octets)
        guard let short else { throw .overflow(shortage(limit)) }
        return Draft(
            data: others + [short],
            overflow: [.init(field: .name, action: .shortened, octets: name.octets - short.octets)])
    }

    // MARK: The scan response

    /// Moves whole fields to the scan response, the least important first.
    private func moved() -> Draft? {
        guard let moves = moves(pieces[...], data: limits.data, scanResponse: limits.scanResponse) else {
            return nil
        }
        return Draft(
            data: pieces.indices.filter { !moves.contains($0) }.map { pieces[$0] },
            scanResponse: moves.reversed().map { pieces[$0] },
            overflow: moves.map {
                .init(field: pieces[$0].field, action: .scanResponse, octets: pieces[$0].octets)
            })
    }

    /// Returns the fields to move, in the order of their removal, so that the remaining ones take at most
    /// `data` octets and the moved ones at most `scanResponse`. A field is not moved if it does not fit in
    /// the scan response, or if the other fields could then not be placed.
    private func moves(_ pieces: ArraySlice<Piece>, data: Int, scanResponse: Int) -> [Int]? {
        let total = pieces.octets
        if total <= data { return [] }
        guard total <= data + scanResponse, let last = pieces.last, last.field != .flags else { return nil }
        let rest = pieces.dropLast()
        if last.octets <= scanResponse,
            let moves = moves(rest, data: data, scanResponse: scanResponse - last.octets)
        {
            return [rest.endIndex] + moves
        }
        return last.octets <= data ? moves(rest, data: data - last.octets, scanResponse: scanResponse) : nil
    }

    /// Shortens the lists of services to the room that the other fields leave in both packets. As many of the
    /// other fields are moved to the scan response, the least important first, as are necessary to lose the
    /// fewest services, and then to keep as many services as possible in the packet.
    private func cut() -> Draft? {
        let lists = pieces.filter { $0.field == .services }
        let others = pieces.filter { $0.field != .services }
        let fixed = others.prefix { $0.field == .flags }.count
        var best: (draft: Draft, dropped: Int, moved: Int)?
        for stay in (fixed...others.count).reversed() {
            let (kept, gone) = (Array(others[..<stay]), Array(others[stay...]))
            guard
                let cut = cut(
                    lists, data: limits.data - kept.octets, scanResponse: limits.scanResponse - gone.octets)
            else { continue }
            let dropped = cut.overflow.octets(.dropped), moved = cut.overflow.octets(.scanResponse)
            if let best, (best.dropped, best.moved) <= (dropped, moved) { continue }
            let left = gone.reversed().map {
                AdvertisingPlan.Overflow(field: $0.field, action: .scanResponse, octets: $0.octets)
            }
            let draft = Draft(
                data: Array(kept[..<fixed]) + cut.data + Array(kept[fixed...]),
                scanResponse: cut.scanResponse + gone,
                overflow: left + cut.overflow)
            best = (draft, dropped, moved)
        }
        return best?.draft
    }

    /// Returns the lists in so many octets, or nil if one of them would have to be removed completely.
    private func cut(_ lists: [Piece], data: Int, scanResponse: Int) -> Draft? {
        guard data >= 0, scanResponse >= 0 else { return nil }
        var draft = Draft(data: [])
        for list in lists {
            guard case .field(.services(let all)) = list.value else { return nil }
            let inData = all.fitting(data - draft.data.octets, from: 0)
            let inResponse = all.fitting(scanResponse - draft.scanResponse.octets, from: inData)
            guard inData + inResponse > 0 else { return nil }
            if inData > 0 { draft.data.append(Piece(services: all, 0..<inData)) }
            if inResponse > 0 {
                let piece = Piece(services: all, inData..<(inData + inResponse))
                draft.scanResponse.append(piece)
                draft.overflow.append(.init(field: .services, action: .scanResponse, octets: piece.octets))
            }
            let dropped = (all.uuids.count - inData - inResponse) * all.width.rawValue
            if dropped > 0 {
                draft.overflow.append(.init(field: .services, action: .dropped, octets: dropped))
            }
        }
        return draft
    }

    func shortage(_ limit: Int) -> AdvertisingPlanError.Overflow {
        pieces.shortage(limit, of: pieces)
    }
}

extension ServiceUUIDs {
    /// Returns how many UUIDs from index `start` on fit into an AD structure of `octets`.
    func fitting(_ octets: Int, from start: Int) -> Int {
        min(uuids.count - start, max(0, min(octets, AdvertisingField.maximumCount) - 2) / width.rawValue)
    }
}

extension [AdvertisingPlan.Overflow] {
    fileprivate func octets(_ action: AdvertisingPlan.Overflow.Action) -> Int {
        filter { $0.action == action }.reduce(0) { $0 + $1.octets }
    }
}

/// Apple's limits for the advertisement of an application (`CBPeripheralManager.startAdvertising`).
enum AppleAdvertisingRules {
    /// The number of octets in the packet beside the flags.
    static let octets = 28
    /// The maximum number of octets of the name in the scan response, without length and type. No other field
    /// is allowed there.
    fileprivate static let nameOctets = 10
}

extension AdvertisingPlanner {
    /// Returns the packets that Core Bluetooth would send for an application in the foreground: as many
    /// services as fit, then the name if it fits completely; otherwise its first octets are in the scan
    /// response. Services that do not fit are left out and reported in `overflow`, because the format of
    /// Apple's overflow area, which would contain them, is not published.
    private func appleDraft() throws(AdvertisingPlanError) -> Draft {
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
        // Two octets are the length and the type of the name.
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
