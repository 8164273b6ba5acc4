import BLECore

/// Where a controller is, in meters.
public struct AirPosition: Hashable, Sendable {
    /// How far east, north and up it is.
    public var x, y, z: Double

    /// Creates a position, in meters. A coordinate that is not finite counts as zero.
    public init(x: Double, y: Double = 0, z: Double = 0) {
        self.x = x.isFinite ? x : 0
        self.y = y.isFinite ? y : 0
        self.z = z.isFinite ? z : 0
    }

    /// How strong a signal of 0 dBm arrives over the distance; nil when that is too weak.
    func rssi(from other: AirPosition) -> Int8? {
        let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
        let square = max(dx * dx + dy * dy + dz * dz, 0.01)
        let level = -40 - 10 * square.decimalLogarithm
        let least = Double(VirtualAir.sensitivity)
        return level < least ? nil : Int8(max(level.rounded(), least))
    }
}

extension Double {
    /// The logarithm to base 10 of a positive finite number. It is worked out here, by the same additions
    /// everywhere, so that a simulation is the same on every machine; no library below has one.
    fileprivate var decimalLogarithm: Double {
        guard isFinite, self > 0 else { return isFinite ? -300 : 300 }
        // log2 of the significand, 1 to 2, by the series of the inverse hyperbolic tangent.
        let ratio = (significand - 1) / (significand + 1)
        var (power, sum) = (ratio, 0.0)
        for divisor in stride(from: 1.0, through: 15, by: 2) {
            sum += power / divisor
            power *= ratio * ratio
        }
        return 0.301_029_995_663_981_2 * Double(exponent) + 0.868_588_963_806_503_7 * sum
    }
}
