/// Smooths signal strengths, which vary by 10 dB between packets. It computes an exponential average that follows
/// a moving device within some seconds, and ignores single outliers.
///
/// ```swift
/// var smoother = RSSISmoother()
/// for try await found in central.scan(options) {
///     if let strength = smoother.add(found.rssi) { print(strength) }
/// }
/// ```
public struct RSSISmoother: Hashable, Sendable {
    /// The weight of a new value, more than 0 and at most 1; with 1 the average is the latest value.
    package let weight: Double
    /// The distance from the average, in dB, beyond which a value counts as an outlier; a second such value
    /// in a row on the same side does not.
    package let outlier: Double

    /// The average in dBm; nil until a known strength is added.
    public private(set) var average: Double?
    /// The side on which the last value was an outlier: -1 or 1; 0 when it was none.
    private var side = 0

    /// Creates a smoother. A `weight` above 1 is taken as 1, one of 0 or less as 0.01. `outlier` is in dB.
    public init(weight: Double = 0.25, outlier: Double = 15) {
        self.weight = weight > 0 ? min(weight, 1) : 0.01
        self.outlier = outlier
    }

    /// Adds a strength, in dBm, and returns the average. Nil and 127 mean that the strength is not known, and
    /// change nothing.
    @discardableResult
    public mutating func add(_ rssi: Int8?) -> Double? {
        guard let rssi, rssi != 127 else { return average }
        let value = Double(rssi)
        guard let before = average else {
            average = value
            return value
        }
        let now = value > before + outlier ? 1 : value < before - outlier ? -1 : 0
        defer { side = now }
        guard now == 0 || now == side else { return before }
        average = before + weight * (value - before)
        return average
    }
}
