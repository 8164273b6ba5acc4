import BLECore

/// What is one of two ways; the raw value is the object identifier.
public enum BTHomeState: UInt8, Hashable, Sendable, CaseIterable {
    /// Off or on.
    case genericBoolean = 0x0f
    /// Off or on.
    case power = 0x10
    /// Closed or open.
    case opening = 0x11
    /// Normal or low.
    case batteryLow = 0x15
    /// Not charging or charging.
    case batteryCharging = 0x16
    /// Not detected or detected.
    case carbonMonoxide = 0x17
    /// Normal or cold.
    case cold = 0x18
    /// Disconnected or connected.
    case connectivity = 0x19
    /// Closed or open.
    case door = 0x1a
    /// Closed or open.
    case garageDoor = 0x1b
    /// Clear or detected.
    case gasDetected = 0x1c
    /// Normal or hot.
    case heat = 0x1d
    /// None or detected.
    case light = 0x1e
    /// Locked or unlocked.
    case lock = 0x1f
    /// Dry or wet.
    case moistureDetected = 0x20
    /// Clear or detected.
    case motion = 0x21
    /// Not moving or moving.
    case moving = 0x22
    /// Clear or detected.
    case occupancy = 0x23
    /// Unplugged or plugged in.
    case plug = 0x24
    /// Away or home.
    case presence = 0x25
    /// All right or not.
    case problem = 0x26
    /// Not running or running.
    case running = 0x27
    /// Unsafe or safe.
    case safety = 0x28
    /// Clear or detected.
    case smoke = 0x29
    /// Clear or detected.
    case sound = 0x2a
    /// Off or on.
    case tamper = 0x2b
    /// Clear or detected.
    case vibration = 0x2c
    /// Closed or open.
    case window = 0x2d

    /// The word for that way.
    package func word(_ isOn: Bool) -> String {
        let (off, on) = words
        return isOn ? on : off
    }

    private var words: (off: String, on: String) {
        switch self {
        case .genericBoolean, .power, .tamper: ("off", "on")
        case .opening, .door, .garageDoor, .window: ("closed", "open")
        case .batteryLow: ("normal", "low")
        case .batteryCharging: ("not charging", "charging")
        case .carbonMonoxide, .light: ("not detected", "detected")
        case .cold: ("normal", "cold")
        case .heat: ("normal", "hot")
        case .connectivity: ("disconnected", "connected")
        case .lock: ("locked", "unlocked")
        case .moistureDetected: ("dry", "wet")
        case .gasDetected, .motion, .occupancy, .smoke, .sound, .vibration: ("clear", "detected")
        case .moving: ("not moving", "moving")
        case .plug: ("unplugged", "plugged in")
        case .presence: ("away", "home")
        case .problem: ("ok", "problem")
        case .running: ("not running", "running")
        case .safety: ("not safe", "safe")
        }
    }
}
