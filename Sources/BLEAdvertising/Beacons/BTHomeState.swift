import BLECore

/// A property with two states; the raw value is the object identifier.
public enum BTHomeState: UInt8, Hashable, Sendable, CaseIterable {
    /// A state without further meaning: false is off, true is on.
    case genericBoolean = 0x0f
    /// Power: false is off, true is on.
    case power = 0x10
    /// An opening: false is closed, true is open.
    case opening = 0x11
    /// The charge of the battery: false is normal, true is low.
    case batteryLow = 0x15
    /// Charging of the battery: false is not charging, true is charging.
    case batteryCharging = 0x16
    /// Carbon monoxide: false is not detected, true is detected.
    case carbonMonoxide = 0x17
    /// Cold: false is normal, true is cold.
    case cold = 0x18
    /// Connectivity: false is disconnected, true is connected.
    case connectivity = 0x19
    /// A door: false is closed, true is open.
    case door = 0x1a
    /// A garage door: false is closed, true is open.
    case garageDoor = 0x1b
    /// Gas: false is clear, true is detected.
    case gasDetected = 0x1c
    /// Heat: false is normal, true is hot.
    case heat = 0x1d
    /// Light: false is not detected, true is detected.
    case light = 0x1e
    /// A lock: false is locked, true is unlocked.
    case lock = 0x1f
    /// Moisture: false is dry, true is wet.
    case moistureDetected = 0x20
    /// Motion: false is clear, true is detected.
    case motion = 0x21
    /// Movement: false is not moving, true is moving.
    case moving = 0x22
    /// Occupancy: false is clear, true is detected.
    case occupancy = 0x23
    /// A plug: false is unplugged, true is plugged in.
    case plug = 0x24
    /// Presence: false is away, true is home.
    case presence = 0x25
    /// A problem: false is ok, true is a problem.
    case problem = 0x26
    /// Operation: false is not running, true is running.
    case running = 0x27
    /// Safety: false is not safe, true is safe.
    case safety = 0x28
    /// Smoke: false is clear, true is detected.
    case smoke = 0x29
    /// Sound: false is clear, true is detected.
    case sound = 0x2a
    /// Tampering: false is off, true is on.
    case tamper = 0x2b
    /// Vibration: false is clear, true is detected.
    case vibration = 0x2c
    /// A window: false is closed, true is open.
    case window = 0x2d

    /// Returns the word for the value true or false of this state.
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
