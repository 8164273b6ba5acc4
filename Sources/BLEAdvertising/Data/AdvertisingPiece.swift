import BLECore

extension AdvertisingPlan {
    /// A part of a packet: a field, or a whole packet that was given.
    struct Piece: Hashable, Sendable {
        enum Value: Hashable, Sendable {
            case field(AdvertisingField)
            case raw([UInt8])
        }

        let field: AdvertisingContent.Field
        let value: Value

        init(field: AdvertisingContent.Field, value: AdvertisingField) {
            self.field = field
            self.value = .field(value)
        }

        init(raw bytes: [UInt8], _ field: AdvertisingContent.Field) {
            self.field = field
            value = .raw(bytes)
        }

        /// Some of the services of a list, in a list that says whether those are all.
        init(services list: ServiceUUIDs, _ range: Range<Int>) {
            let kind: ServiceUUIDs.Kind = range.count == list.uuids.count ? .complete : .incomplete
            self.init(
                field: .services,
                value: .services(ServiceUUIDs(kind, Array(list.uuids[range]), width: list.width)))
        }

        /// Octets that it takes.
        var octets: Int {
            switch value {
            case .field(let field): field.encodedCount
            case .raw(let bytes): bytes.count
            }
        }

        /// Whether it is longer than an AD structure can be.
        var isTooLong: Bool {
            if case .field(let field) = value {
                field.encodedCount > AdvertisingField.maximumCount
            } else {
                false
            }
        }

        func encode(into output: inout OutputSpan<UInt8>) {
            switch value {
            case .field(let field): field.encode(into: &output)
            case .raw(let bytes): output.bytes(bytes)
            }
        }

        /// A name cut to `limit` octets in all, between two characters as people see them; nil when not even
        /// the first fits.
        func shortened(to limit: Int) -> Piece? {
            guard case .field(.name(let name)) = value else { return nil }
            let room = min(limit, AdvertisingField.maximumCount) - 2
            var short = ""
            for character in name.text {
                guard short.utf8.count + character.utf8.count <= room else { break }
                short.append(character)
            }
            if short.isEmpty { return nil }
            return Piece(field: .name, value: .name(LocalName(UTF8Text(short), isComplete: false)))
        }
    }
}

extension Collection<AdvertisingPlan.Piece> {
    /// Octets of all pieces.
    var octets: Int { reduce(0) { $0 + $1.octets } }

    /// Whether each piece is possible, and all together take at most `limit` octets.
    func fit(_ limit: Int) -> Bool { octets <= limit && !contains(where: \.isTooLong) }
}

extension BidirectionalCollection<AdvertisingPlan.Piece> {
    /// The pieces that leave until the others take at most `limit` octets, the least important first.
    func leaving(_ limit: Int) -> [AdvertisingPlan.Piece] {
        var left: [AdvertisingPlan.Piece] = []
        for piece in reversed() where piece.field != .flags && octets - left.octets > limit {
            left.append(piece)
        }
        return left
    }

    /// Which piece is to blame when `all` do not fit: one that is not possible, one that would not fit beside
    /// the flags alone, else the least important.
    func shortage(_ limit: Int, of all: [AdvertisingPlan.Piece]) -> AdvertisingPlanError.Overflow {
        let flags = all.filter { $0.field == .flags }.octets
        let impossible = limit > AdvertisingField.maximumCount ? first(where: \.isTooLong) : nil
        let tooLong = first { $0.field != .flags && $0.octets > limit - flags }
        let blamed = impossible ?? tooLong ?? last
        return .init(
            blamed?.field ?? .name, octets: blamed?.octets ?? 0,
            limit: impossible == nil ? limit : AdvertisingField.maximumCount,
            fields: all.map { .init(field: $0.field, octets: $0.octets, place: .data) })
    }
}

extension AdvertisingContent {
    /// The pieces of the packet.
    func checkedPieces(for kind: AdvertisingKind) throws(AdvertisingPlanError) -> [AdvertisingPlan.Piece] {
        guard let raw else { return pieces(for: kind) }
        if let other = pieces(for: .nonconnectable).first {
            throw .invalid(.raw, .rawBeside(other.field))
        }
        return [try Self.checked(raw, .raw)]
    }

    /// The scan response that was given, when it can be one.
    func checkedScanResponse(
        for kind: AdvertisingKind, limit: Int
    ) throws(AdvertisingPlanError) -> AdvertisingPlan.Piece? {
        guard let rawScanResponse else { return nil }
        let piece = try Self.checked(rawScanResponse, .rawScanResponse)
        guard kind != .nonconnectable else {
            throw .noScanResponse(.init(.rawScanResponse, octets: piece.octets, limit: 0))
        }
        guard piece.octets <= limit else {
            throw .overflow(.init(.rawScanResponse, octets: piece.octets, limit: limit))
        }
        return piece
    }

    private static func checked(
        _ bytes: [UInt8], _ field: Field
    ) throws(AdvertisingPlanError) -> AdvertisingPlan.Piece {
        if let problem = AdvertisingData(bytes).problem { throw .malformed(field, problem) }
        return AdvertisingPlan.Piece(raw: bytes, field)
    }
}
