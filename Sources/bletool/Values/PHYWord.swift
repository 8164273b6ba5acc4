import ArgumentParser
import BLE

/// The words for physical layers, in options and configurations.
enum PHYWord: String, CaseIterable, Sendable, ExpressibleByArgument {
    case oneMegabit = "1m"
    case twoMegabit = "2m"
    case coded

    var phy: PHY {
        switch self {
        case .oneMegabit: .le1M
        case .twoMegabit: .le2M
        case .coded: .leCoded
        }
    }
}

/// The words for those on which advertising begins.
enum PrimaryPHYWord: String, CaseIterable, Sendable, ExpressibleByArgument {
    case oneMegabit = "1m"
    case coded

    var phy: PHY {
        switch self {
        case .oneMegabit: .le1M
        case .coded: .leCoded
        }
    }
}
