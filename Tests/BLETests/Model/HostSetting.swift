import Testing

/// What the hosts and controllers of a run of the model are.
struct HostSetting: Hashable, Sendable, CustomTestStringConvertible {
    enum World: Int, CaseIterable {
        /// Hosts that have no bonds and do not pair.
        case plain
        /// Hosts whose users pair them.
        case pairing
        /// Bonded hosts with private addresses.
        case privacy
        /// Hosts without bonds, of which the first has a kernel adapter.
        case kernel
    }

    /// The number of the setting, from 0.
    let kind: Int
    let world: World
    /// Whether the controllers support the extended commands.
    let isExtended: Bool
    /// The number of packets at each connection event; nil if it is not limited.
    let pace: Int?
    /// Whether controllers sometimes misbehave.
    let hasFaults: Bool

    static let all = (0..<8 * World.allCases.count).map { HostSetting($0) }

    init(_ kind: Int) {
        self.kind = kind
        world = World.allCases[kind / 8]
        (isExtended, pace, hasFaults) = (kind & 1 > 0, kind & 2 > 0 ? 3 : nil, kind & 4 > 0)
    }

    /// Whether hosts have bonds, or make some.
    var pairs: Bool { world == .pairing || world == .privacy }

    var testDescription: String { "kind \(kind), \(world)" }
}
