import BLECore

/// The source of what a host chooses at random: its private addresses, keys and nonces. With a seed, which is for tests
/// only, every run chooses the same.
package enum HostRandom: RandomNumberGenerator, Sendable {
    case system
    case seeded(SplitMix64)

    package init(seed: UInt64?) { self = seed.map { .seeded(SplitMix64(seed: $0)) } ?? .system }

    package mutating func next() -> UInt64 {
        switch self {
        case .system:
            var system = SystemRandomNumberGenerator()
            return system.next()
        case .seeded(var generator):
            defer { self = .seeded(generator) }
            return generator.next()
        }
    }

    /// Returns a source for a part of the host, so that what the part draws does not shift what the others draw.
    mutating func split() -> HostRandom {
        switch self {
        case .system: .system
        case .seeded: .seeded(SplitMix64(seed: next()))
        }
    }
}
