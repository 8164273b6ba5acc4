import BLECore

/// The packets that carry a device's advertising content, with the place and the size of each field.
///
/// ```swift
/// var content = AdvertisingContent()
/// content.name = "Thermometer in the kitchen"
/// content.services = [0x1809]
/// let plan = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
/// plan.data          // 7 octets: flags and services
/// plan.scanResponse  // 28 octets: the name
/// plan.fields        // flags 3 data, services 4 data, name 28 scan-response
/// plan.overflow      // name scan-response 28
/// ```
/// Nothing is left out without being named in `overflow`, and what cannot be said is an
/// `AdvertisingPlanError` that names the field, its octets and the limit.
public struct AdvertisingPlan: Hashable, Sendable {
    /// The advertising packet; empty in an extended plan.
    public internal(set) var data: [UInt8] = []
    /// The answer to scan requests; empty in an extended plan.
    public internal(set) var scanResponse: [UInt8] = []
    /// The payload of an extended advertisement, when this is one. Of a scannable kind the controller takes
    /// it as scan response data, for such a set has no advertising data (Core Specification 5.4, Vol 4,
    /// Part E, 7.8.54).
    public internal(set) var extended: [UInt8]?
    /// The most octets that `data`, or in an extended plan `extended`, may have.
    public let limit: Int
    /// The fields in the order of the packets.
    public private(set) var fields: [Placement] = []
    /// The octets that did not fit into the packet, in the order in which they were removed.
    public private(set) var overflow: [Overflow] = []

    /// The whole name of the content, of which the packets may have only the beginning.
    package private(set) var name: String?

    /// The octets of `data`, or in an extended plan of `extended`.
    public var octets: Int { extended?.count ?? data.count }

    /// Whether scanners that only know legacy advertising will not see this.
    package var isInvisibleToLegacyScanners: Bool { extended != nil }

    /// The packets for `content`.
    ///
    /// - Parameters:
    ///   - kind: what others may do with the advertisement.
    ///   - policy: what to do when the content does not fit.
    ///   - extended: whether to advertise by extended packets although the content may fit.
    public init(
        _ content: AdvertisingContent, kind: AdvertisingKind, overflow policy: OverflowPolicy = .fail,
        extended: Bool = false
    ) throws(AdvertisingPlanError) {
        try self.init(
            content, kind: kind, overflow: policy, extended: extended, limits: AdvertisingLimits(for: kind))
    }

    /// The packets for `content`, which have as many octets as `limits` says.
    package init(
        _ content: AdvertisingContent, kind: AdvertisingKind, overflow policy: OverflowPolicy,
        extended: Bool = false, limits: AdvertisingLimits
    ) throws(AdvertisingPlanError) {
        let planner = AdvertisingPlanner(
            pieces: try content.checkedPieces(for: kind), kind: kind, policy: policy, limits: limits,
            rawScanResponse: try content.checkedScanResponse(for: kind, limit: limits.scanResponse))
        let draft = try planner.draft(extended: extended)
        name = content.name
        limit = draft.isExtended ? limits.extended : limits.data
        overflow = draft.overflow
        let packets: [(Place, [Piece])] =
            draft.isExtended
            ? [(.extended, draft.data)] : [(.data, draft.data), (.scanResponse, draft.scanResponse)]
        for (place, pieces) in packets {
            fields += pieces.map { Placement(field: $0.field, octets: $0.octets, place: place) }
        }
        let payload = AdvertisingPlan.payload(draft.data)
        if draft.isExtended { self.extended = payload } else { data = payload }
        scanResponse = AdvertisingPlan.payload(draft.scanResponse)
    }

    /// Packets that say nothing, as those of directed advertising do.
    package static let empty = AdvertisingPlan()

    /// A plan that was made before.
    package init(
        data: [UInt8], scanResponse: [UInt8], extended: [UInt8]?, limit: Int, fields: [Placement],
        overflow: [Overflow], name: String?
    ) {
        self.data = data
        self.scanResponse = scanResponse
        self.extended = extended
        self.limit = limit
        self.fields = fields
        self.overflow = overflow
        self.name = name
    }

    private init() { limit = AdvertisingLimits(for: .connectable).data }

    private static func payload(_ pieces: [Piece]) -> [UInt8] {
        [UInt8](capacity: pieces.reduce(0) { $0 + $1.octets }) { output in
            for piece in pieces { piece.encode(into: &output) }
        }
    }
}

extension AdvertisingPlan {
    /// Which packet a field is in. Raw values are the words of the command line's JSON.
    public enum Place: String, Hashable, Sendable {
        /// The data of a legacy advertising packet.
        case data
        /// The response to scan requests.
        case scanResponse = "scan-response"
        /// The data of an extended advertisement.
        case extended
    }

    /// A field and where it is.
    public struct Placement: Hashable, Sendable {
        /// The field that was placed.
        public var field: AdvertisingContent.Field
        /// Octets that it takes, length and type included.
        public var octets: Int
        /// The packet that has the field.
        public var place: Place

        /// A field, its octets and where it is.
        package init(field: AdvertisingContent.Field, octets: Int, place: Place) {
            self.field = field
            self.octets = octets
            self.place = place
        }
    }

    /// How octets that did not fit were handled.
    public struct Overflow: Hashable, Sendable {
        /// What became of the octets. Raw values are the words of the command line's JSON.
        public enum Action: String, Hashable, Sendable {
            /// They are in the scan response.
            case scanResponse = "scan-response"
            /// They were cut off the end of the name.
            case shortened
            /// They are the UUIDs that an incomplete list leaves out.
            case dropped
            /// They are why the advertisement is an extended one.
            case extended
        }

        /// The field that had to give way.
        public var field: AdvertisingContent.Field
        /// The way in which the overflow was resolved.
        public var action: Action
        /// The octets that the packet was spared.
        public var octets: Int

        /// What became of octets of a field.
        package init(field: AdvertisingContent.Field, action: Action, octets: Int) {
            self.field = field
            self.action = action
            self.octets = octets
        }
    }
}

/// What others may do with an advertisement.
public enum AdvertisingKind: String, Hashable, Sendable, CaseIterable {
    /// Others can connect, and request a scan response.
    case connectable
    /// Scanners can request a scan response.
    case scannable
    /// Others can neither connect nor request a scan response.
    case nonconnectable
}

/// What to do with content that does not fit into 31 octets.
public enum OverflowPolicy: String, Hashable, Sendable, CaseIterable {
    /// Throw `AdvertisingPlanError.overflow` in place of a plan.
    case fail
    /// Cut the name, between two characters.
    case shortenName = "shorten-name"
    /// Move fields to the scan response; cut lists of services that fit nowhere.
    case scanResponse = "scan-response"
    /// Advertise in extended packets instead of legacy ones.
    case extended
    /// Advertise what Core Bluetooth on an Apple device would, for those who count on its packets: services and a name
    /// only, 28 octets beside the flags, and the first 10 of a name that does not fit there in the scan
    /// response. Services without room are left out. Legacy packets only.
    case apple
}

/// The capacities of the packets, in octets.
package struct AdvertisingLimits: Hashable, Sendable {
    /// The capacity of a legacy packet, in octets.
    package var data = 31
    /// The capacity of a scan response, in octets.
    package var scanResponse = 31
    /// The capacity of an extended advertisement, in octets.
    package var extended: Int

    /// 31 for legacy packets. An extended advertisement has 1650, but a connectable one must be in one
    /// packet: 255 octets less ten of header (flags, address, set). A controller may have less; it says so
    /// in answer to LE Read Maximum Advertising Data Length.
    package init(for kind: AdvertisingKind) { extended = kind == .connectable ? 245 : 1650 }
}

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

        /// The encoded size in octets.
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
    /// The encoded size of all pieces, in octets.
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
    /// The encoded fields of the packet.
    fileprivate func checkedPieces(for kind: AdvertisingKind) throws(AdvertisingPlanError) -> [AdvertisingPlan
        .Piece]
    {
        guard let raw else { return pieces(for: kind) }
        if let other = pieces(for: .nonconnectable).first {
            throw .invalid(.raw, .rawBeside(other.field))
        }
        return [try Self.checked(raw, .raw)]
    }

    /// The scan response that was given, when it can be one.
    fileprivate func checkedScanResponse(
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

extension AdvertisingPlan {
    /// The same packets with that transmit power, in dBm, in the Tx Power Level field (Core Specification
    /// Supplement, part A, 1.5), where they have one. A field of a raw packet stays as it is.
    package func stating(power: Int8) -> AdvertisingPlan {
        guard let index = fields.firstIndex(where: { $0.field == .txPower }) else { return self }
        let place = fields[index].place
        let before = fields[..<index].filter { $0.place == place }.reduce(0) { $0 + $1.octets }
        // Behind the length and the type.
        let octet = before + 2
        var plan = self
        switch place {
        case .data: plan.data[octet] = UInt8(bitPattern: power)
        case .scanResponse: plan.scanResponse[octet] = UInt8(bitPattern: power)
        case .extended: plan.extended?[octet] = UInt8(bitPattern: power)
        }
        return plan
    }
}
