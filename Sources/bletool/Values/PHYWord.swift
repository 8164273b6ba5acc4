import ArgumentParser
import BLE

/// The names of PHYs in options and configurations.
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

/// The names of the PHYs on which advertising begins.
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
