import BLECore

/// Why content cannot be advertised.
public enum AdvertisingPlanError: Error, Hashable, Sendable {
    /// The fields exceed the capacity of the packets.
    case overflow(Overflow)
    /// A field would have to go to the scan response, but there is none, or a raw one takes it.
    case noScanResponse(Overflow)
    /// A raw packet is not a row of AD structures.
    case malformed(AdvertisingContent.Field, DecodeError)
    /// A field cannot be as it is, or not there.
    case invalid(AdvertisingContent.Field, Problem)

    /// Why a field cannot be as it is, or not there.
    public enum Problem: Hashable, Sendable {
        /// A raw packet is sent as it is, without the other field.
        case rawBeside(AdvertisingContent.Field)
        /// Apple's rules have room for services and a name only.
        case appleField
        /// Apple's rules leave the scan response to the name.
        case appleScanResponse
        /// Apple's rules are for legacy packets only.
        case appleExtended
        /// An Eddystone-URL begins with another scheme than one of these.
        case urlScheme(allowed: [String])
        /// An Eddystone-URL has a character that is no printable one of ASCII.
        case urlCharacter(Character)
    }

    /// A field for which there is too little room.
    public struct Overflow: Hashable, Sendable {
        /// The field that does not fit.
        public var field: AdvertisingContent.Field
        /// Octets that it takes, length and type included.
        public var octets: Int
        /// The capacity in octets.
        public var limit: Int
        /// The octets that there are in the scan response as well, when fields could have moved there.
        public var scanResponseLimit: Int?
        /// All fields that want to be there, in order, with their octets.
        public var fields: [AdvertisingPlan.Placement]

        /// A field that does not fit.
        package init(
            _ field: AdvertisingContent.Field, octets: Int, limit: Int, scanResponseLimit: Int? = nil,
            fields: [AdvertisingPlan.Placement] = []
        ) {
            self.field = field
            self.octets = octets
            self.limit = limit
            self.scanResponseLimit = scanResponseLimit
            self.fields = fields
        }

        /// The size of all fields, in octets.
        package var total: Int { fields.reduce(0) { $0 + $1.octets } }
    }

    /// The field that is to blame.
    package var field: AdvertisingContent.Field {
        switch self {
        case .overflow(let overflow), .noScanResponse(let overflow): overflow.field
        case .malformed(let field, _), .invalid(let field, _): field
        }
    }
}

extension AdvertisingPlanError: CustomStringConvertible {
    /// One line: "name takes 28 octets and does not fit: the limit is 31, and flags 3, services 4, name 28
    /// make 35".
    public var description: String {
        switch self {
        case .overflow, .noScanResponse: "\(field.rawValue) \(reason)"
        case .malformed, .invalid: "\(field.rawValue): \(reason)"
        }
    }

    /// The same without the name of the field to blame in front.
    package var reason: String {
        switch self {
        case .overflow(let overflow): overflow.reason
        case .noScanResponse(let overflow): "\(overflow.reason), and there is no scan response for it"
        case .malformed(_, let error): "\(error)"
        case .invalid(_, let problem): "\(problem)"
        }
    }
}

extension AdvertisingPlanError.Overflow: CustomStringConvertible {
    /// One line, with the field to blame in front.
    public var description: String { "\(field.rawValue) \(reason)" }

    fileprivate var reason: String {
        let place = scanResponseLimit.map { "the packet has \(limit) and the scan response \($0)" }
        let head = "takes \(octets) octets and does not fit: \(place ?? "the limit is \(limit)")"
        guard fields.count > 1 else { return head }
        let all = fields.map { "\($0.field.rawValue) \($0.octets)" }.joined(separator: ", ")
        return "\(head), and \(all) make \(total)"
    }
}

extension AdvertisingPlanError.Problem: CustomStringConvertible {
    /// The problem in words, without the name of the field.
    public var description: String {
        switch self {
        case .rawBeside(let other): "a raw packet is sent as it is, and cannot take \(other.rawValue) as well"
        case .appleField: "Apple's rules have room for services and a name only"
        case .appleScanResponse: "Apple's rules leave the scan response to the name"
        case .appleExtended: "Apple's rules are for legacy packets only"
        case .urlScheme(let allowed): "an Eddystone-URL begins with one of \(allowed.joined(separator: ", "))"
        case .urlCharacter(let character): "an Eddystone-URL takes no \(character.debugDescription)"
        }
    }
}
