import BLECore

/// Strengths of a signal as a row of bars.
enum Sparkline {
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// A bar for each strength, -100 dBm and less the lowest, -30 dBm and more the highest.
    static func text(_ strengths: some Sequence<Int8>) -> String {
        String(
            strengths.map { strength in
                bars[min(max(0, (Int(strength) + 100) * bars.count / 70), bars.count - 1)]
            })
    }
}
