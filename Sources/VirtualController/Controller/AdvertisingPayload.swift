import HCI

/// Advertising or scan response data, as a host builds them.
struct AdvertisingPayload: Sendable {
    private(set) var octets: [UInt8] = []
    /// Whether further fragments must arrive first.
    private(set) var isPartial = false

    var isEmpty: Bool { octets.isEmpty }

    /// Takes a piece. The first one takes the place of all that was there before (Core Specification 5.4,
    /// Vol 4, Part E, 7.8.54).
    mutating func take(
        _ operation: AdvertisingDataFragment.Operation, _ data: [UInt8]
    ) throws(HCIStatus) {
        switch operation {
        case .first, .complete: octets = data
        case .intermediate, .last: octets += data
        case .unchanged: return
        default: throw .invalidCommandParameters
        }
        isPartial = operation == .first || operation == .intermediate
    }

    /// Replaces the payload with complete data.
    mutating func set(_ octets: [UInt8]) { self = AdvertisingPayload(octets: octets) }

    mutating func discard() { self = AdvertisingPayload() }

    init() {}

    private init(octets: [UInt8]) { self.octets = octets }
}
