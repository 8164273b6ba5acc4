import BLECore

/// The reason why content cannot be advertised.
public enum AdvertisingPlanError: Error, Hashable, Sendable {
    /// The fields exceed the capacity of the packets.
    case overflow(Overflow)
    /// A field would have to be moved to the scan response, but there is none, or a raw one occupies it.
    case noScanResponse(Overflow)
    /// A raw packet is not a sequence of AD structures.
    case malformed(AdvertisingContent.Field, DecodeError)
    /// A field has an invalid value or cannot be used here.
    case invalid(AdvertisingContent.Field, Problem)

    /// The reason why a field has an invalid value or cannot be used here.
    public enum Problem: Hashable, Sendable {
        /// A raw packet is sent unchanged, so it cannot be combined with the other field.
        case rawBeside(AdvertisingContent.Field)
        /// Apple's packets contain services and a name only.
        case appleField
        /// Apple's packets use the scan response only for the name.
        case appleScanResponse
        /// Apple's rules apply to legacy packets only.
        case appleExtended
        /// An Eddystone-URL begins with a scheme that is not one of these.
        case urlScheme(allowed: [String])
        /// An Eddystone-URL contains a character that is not printable ASCII.
        case urlCharacter(Character)
    }

    /// A field for which there is not enough room.
    public struct Overflow: Hashable, Sendable {
        /// The field that does not fit.
        public var field: AdvertisingContent.Field
        /// The size of the field in octets, including length and type.
        public var octets: Int
        /// The capacity in octets.
        public var limit: Int
        /// The capacity of the scan response in octets, if fields could have been moved to it.
        public var scanResponseLimit: Int?
        /// All fields for the packet, in order, with their octets.
        public var fields: [AdvertisingPlan.Placement]

        /// Creates the description of a field that does not fit.
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

    /// The field that caused the error.
    package var field: AdvertisingContent.Field {
        switch self {
        case .overflow(let overflow), .noScanResponse(let overflow): overflow.field
        case .malformed(let field, _), .invalid(let field, _): field
        }
    }
}

extension AdvertisingPlanError: CustomStringConvertible {
    /// The error as one line of text: "name takes 28 octets and does not fit: the limit is 31, and flags 3,
    /// services 4, name 28 make 35".
    public var description: String {
        switch self {
        case .overflow, .noScanResponse: "\(field.rawValue) \(reason)"
        case .malformed, .invalid: "\(field.rawValue): \(reason)"
        }
    }

    /// The description without the leading name of the field.
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
    /// The error as one line of text that begins with the name of the field.
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
