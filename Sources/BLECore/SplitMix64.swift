/// A small random number generator that generates the same numbers for the same seed on every run. It is for
/// simulations and tests only: its numbers are predictable.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator with `seed` as its state.
    package init(seed: UInt64) { state = seed }

    /// Returns the next 64 pseudorandom bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed &>> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed &>> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed &>> 31)
    }

    /// Returns a random number of random octets, from none up to `limit`.
    package mutating func bytes(upTo limit: Int) -> [UInt8] {
        (0..<Int.random(in: 0...max(0, limit), using: &self)).map { _ in .random(in: 0...255, using: &self) }
    }
}
