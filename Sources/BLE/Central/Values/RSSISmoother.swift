/// Makes a steady number of signal strengths, which jump by 10 dB between packets: an exponential average that follows
/// a device that moves within some seconds, and leaves single outliers out.
///
/// ```swift
/// var smoother = RSSISmoother()
/// for try await found in central.scan(options) {
///     if let strength = smoother.add(found.rssi) { print(strength) }
/// }
/// ```
public struct RSSISmoother: Hashable, Sendable {
    /// How much a new value counts, more than 0 and at most 1, which takes each as it is.
    package let weight: Double
    /// How far from the average, in dB, a value must be to count as an outlier; the second one in a row on
    /// the same side is none.
    package let outlier: Double

    /// The average in dBm; nil as long as nothing was known.
    public private(set) var average: Double?
    /// The side on which the last value was an outlier: -1 or 1; 0 when it was none.
    private var side = 0

    /// An average with that weight, which is brought into its range.
    public init(weight: Double = 0.25, outlier: Double = 15) {
        self.weight = weight > 0 ? min(weight, 1) : 0.01
        self.outlier = outlier
    }

    /// Takes a strength, in dBm; gives the average. Nil and 127 say that it is not available, and change nothing.
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
