import BLECore

/// The position of a controller, in meters.
public struct AirPosition: Hashable, Sendable {
    /// The distance to the east, to the north and upward, in meters.
    public var x, y, z: Double

    /// Creates a position, in meters. A coordinate that is not finite counts as zero.
    public init(x: Double, y: Double = 0, z: Double = 0) {
        self.x = x.isFinite ? x : 0
        self.y = y.isFinite ? y : 0
        self.z = z.isFinite ? z : 0
    }

    /// Returns the level in dBm at which a signal of 0 dBm arrives over the distance; nil if that is below
    /// the sensitivity.
    func rssi(from other: AirPosition) -> Int8? {
        let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
        let square = max(dx * dx + dy * dy + dz * dz, 0.01)
        let level = -40 - 10 * square.decimalLogarithm
        let least = Double(VirtualAir.sensitivity)
        return level < least ? nil : Int8(max(level.rounded(), least))
    }
}

extension Double {
    /// The logarithm to base 10 of a positive finite number. It is calculated here with the same operations
    /// on every machine, so that a simulation gives the same results everywhere; no library that this module
    /// uses provides one.
    fileprivate var decimalLogarithm: Double {
        guard isFinite, self > 0 else { return isFinite ? -300 : 300 }
        // The logarithm of the significand, 1 to 2, from the series of the inverse hyperbolic tangent.
        let ratio = (significand - 1) / (significand + 1)
        var (power, sum) = (ratio, 0.0)
        for divisor in stride(from: 1.0, through: 15, by: 2) {
            sum += power / divisor
            power *= ratio * ratio
        }
        return 0.301_029_995_663_981_2 * Double(exponent) + 0.868_588_963_806_503_7 * sum
    }
}
