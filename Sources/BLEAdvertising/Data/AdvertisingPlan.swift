import BLECore

/// The packets that carry a device's advertising content, with the position and the size of each field.
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
/// Everything that is left out is listed in `overflow`. For content that cannot be advertised, the
/// initializer throws an `AdvertisingPlanError`, which contains the field, its octets and the limit.
public struct AdvertisingPlan: Hashable, Sendable {
    /// The advertising packet; empty in an extended plan.
    public internal(set) var data: [UInt8] = []
    /// The response to scan requests; empty in an extended plan.
    public internal(set) var scanResponse: [UInt8] = []
    /// The payload of an extended advertisement; nil in a legacy plan. If the kind is scannable, the
    /// controller takes it as scan response data, because such a set has no advertising data (Core
    /// Specification 5.4, Vol 4, Part E, 7.8.54).
    public internal(set) var extended: [UInt8]?
    /// The maximum number of octets of `data`, or of `extended` in an extended plan.
    public let limit: Int
    /// The fields, in the order of the packets.
    public private(set) var fields: [Placement] = []
    /// The octets that did not fit into the packet, in the order in which they were removed.
    public private(set) var overflow: [Overflow] = []

    /// The complete name in the content, of which the packets can contain only the beginning.
    package private(set) var name: String?

    /// The number of octets of `data`, or of `extended` in an extended plan.
    public var octets: Int { extended?.count ?? data.count }

    /// Whether scanners that support only legacy advertising cannot receive the advertisement.
    package var isInvisibleToLegacyScanners: Bool { extended != nil }

    /// Creates the packets for `content`.
    ///
    /// - Parameters:
    ///   - kind: whether other devices can connect or request a scan response.
    ///   - policy: what to do when the content does not fit.
    ///   - extended: whether to use extended packets even if the content fits into legacy ones.
    public init(
        _ content: AdvertisingContent, kind: AdvertisingKind, overflow policy: OverflowPolicy = .fail,
        extended: Bool = false
    ) throws(AdvertisingPlanError) {
        try self.init(
            content, kind: kind, overflow: policy, extended: extended, limits: AdvertisingLimits(for: kind))
    }

    /// Creates the packets for `content`, whose sizes do not exceed `limits`.
    package init(
        _ content: AdvertisingContent, kind: AdvertisingKind, overflow policy: OverflowPolicy,
        extended: Bool = false, limits: AdvertisingLimits
    ) throws(AdvertisingPlanError) {
        let planner = AdvertisingPlanner(
            pieces: try content.checkedPieces(for: kind), kind: kind, policy: policy, limits: limits,
            rawScanResponse: try content.checkedScanResponse(
                for: kind, limit: extended && kind == .scannable ? limits.extended : limits.scanResponse))
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

    /// A plan with empty packets, as for directed advertising.
    package static let empty = AdvertisingPlan()

    /// Restores a plan that was created before.
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
    /// The packet that contains a field. Raw values are the words of the command line's JSON.
    public enum Place: String, Hashable, Sendable {
        /// The data of a legacy advertising packet.
        case data
        /// The response to scan requests.
        case scanResponse = "scan-response"
        /// The payload of an extended advertisement.
        case extended
    }

    /// A field, its size and its packet.
    public struct Placement: Hashable, Sendable {
        /// The field that was placed.
        public var field: AdvertisingContent.Field
        /// The size of the field in octets, including length and type.
        public var octets: Int
        /// The packet that contains the field.
        public var place: Place

        /// Creates the placement of a field.
        package init(field: AdvertisingContent.Field, octets: Int, place: Place) {
            self.field = field
            self.octets = octets
            self.place = place
        }
    }

    /// The handling of octets that did not fit.
    public struct Overflow: Hashable, Sendable {
        /// The action taken for the octets. Raw values are the words of the command line's JSON.
        public enum Action: String, Hashable, Sendable {
            /// The octets were moved to the scan response.
            case scanResponse = "scan-response"
            /// The octets were cut off the end of the name.
            case shortened
            /// The octets are UUIDs that an incomplete list leaves out.
            case dropped
            /// The octets made an extended advertisement necessary.
            case extended
        }

        /// The field that did not fit.
        public var field: AdvertisingContent.Field
        /// The action that resolved the overflow.
        public var action: Action
        /// The number of octets that did not fit into the packet.
        public var octets: Int

        /// Creates the description of an overflow.
        package init(field: AdvertisingContent.Field, action: Action, octets: Int) {
            self.field = field
            self.action = action
            self.octets = octets
        }
    }
}

/// The actions that other devices can take on an advertisement.
public enum AdvertisingKind: String, Hashable, Sendable, CaseIterable {
    /// Other devices can connect or request a scan response.
    case connectable
    /// Scanners can request a scan response.
    case scannable
    /// Other devices can neither connect nor request a scan response.
    case nonconnectable
}

/// The handling of content that does not fit into 31 octets.
public enum OverflowPolicy: String, Hashable, Sendable, CaseIterable {
    /// Throw `AdvertisingPlanError.overflow` instead of creating a plan.
    case fail
    /// Shorten the name at a character boundary.
    case shortenName = "shorten-name"
    /// Move fields to the scan response; shorten lists of services that fit in neither packet.
    case scanResponse = "scan-response"
    /// Advertise in extended packets instead of legacy ones.
    case extended
    /// Advertise the same packets as Core Bluetooth on an Apple device, for applications that rely on them:
    /// only services and a name, 28 octets beside the flags. A name that does not fit is shortened to its
    /// first 10 octets in the scan response. Services that do not fit are left out. Legacy packets only.
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

    /// Creates the default limits: 31 octets for legacy packets, and 1650 for an extended advertisement. A
    /// connectable extended advertisement must fit in one packet, which leaves 245: 255 octets minus ten of
    /// header (flags, address, set). A controller can support less, which LE Read Maximum Advertising Data
    /// Length returns.
    package init(for kind: AdvertisingKind) { extended = kind == .connectable ? 245 : 1650 }
}

extension AdvertisingPlan {
    /// A part of a packet: a field, or a whole packet that the caller provided.
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

        /// Creates a list of some of the services in `list`, which is marked as incomplete if services are
        /// missing.
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

        /// Whether the field is longer than an AD structure can be.
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

        /// Returns the name shortened to `limit` octets in all, at the boundary of a user-perceived
        /// character; nil if not even the first character fits.
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

    /// Returns whether each piece fits into an AD structure, and all together take at most `limit` octets.
    func fit(_ limit: Int) -> Bool { octets <= limit && !contains(where: \.isTooLong) }
}

extension BidirectionalCollection<AdvertisingPlan.Piece> {
    /// Returns the pieces to remove so that the others take at most `limit` octets, the least important
    /// first.
    func leaving(_ limit: Int) -> [AdvertisingPlan.Piece] {
        var left: [AdvertisingPlan.Piece] = []
        for piece in reversed() where piece.field != .flags && octets - left.octets > limit {
            left.append(piece)
        }
        return left
    }

    /// Returns the piece to report when `all` do not fit: one that is longer than an AD structure, one that
    /// does not fit beside the flags alone, or else the least important.
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
    /// Returns the fields of the packet, or the raw packet after checking it.
    fileprivate func checkedPieces(for kind: AdvertisingKind) throws(AdvertisingPlanError) -> [AdvertisingPlan
        .Piece]
    {
        guard let raw else { return pieces(for: kind) }
        if let other = pieces(for: .nonconnectable).first {
            throw .invalid(.raw, .rawBeside(other.field))
        }
        return [try Self.checked(raw, .raw)]
    }

    /// Returns the raw scan response after checking it; nil if there is none.
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
    /// Returns the same packets with the given transmit power, in dBm, in the Tx Power Level field (Core
    /// Specification Supplement, part A, 1.5), if they have one. The field of a raw packet is not changed.
    package func stating(power: Int8) -> AdvertisingPlan {
        guard let index = fields.firstIndex(where: { $0.field == .txPower }) else { return self }
        let place = fields[index].place
        let before = fields[..<index].filter { $0.place == place }.reduce(0) { $0 + $1.octets }
        // The value follows the length and the type.
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
