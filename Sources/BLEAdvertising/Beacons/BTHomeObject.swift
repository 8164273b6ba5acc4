import BLECore

/// One thing that a BTHome sensor says. A packet may have several of a kind: two thermometers, four buttons.
public enum BTHomeObject: Hashable, Sendable {
    /// Numbers the packets, so that repeated ones are known.
    case packetIdentifier(UInt8)
    /// Something measured or counted.
    case measurement(BTHomeProperty, Quantity)
    /// Something that is one of two ways.
    case state(BTHomeState, Bool)
    /// A point in time, to the second.
    case time(Timestamp)
    /// What was done with a button; one object for each button in their order.
    case button(BTHomeButtonEvent)
    /// A request to other devices, with its arguments.
    case command(BTHomeCommand, [UInt8])
    /// By how many steps a dimmer was turned, to the right when positive; 0 is not at all.
    case dimmer(Int)
    /// A text of at most 255 octets.
    case text(UTF8Text)
    /// Octets that the maker knows.
    case raw([UInt8])
    /// What kind of device it is: a number of the maker's own.
    case deviceType(UInt16)
    /// The firmware's version, major number first: three or four numbers.
    case firmware([UInt8])
}

/// What is done with a button.
public struct BTHomeButtonEvent: RawRepresentable, Hashable, Sendable {
    /// The number of the event in the format.
    public let rawValue: UInt8

    /// The event with that number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Nothing: another button of the same device was used.
    package static let none = Self(rawValue: 0)
    package static let press = Self(rawValue: 0x01)
    package static let doublePress = Self(rawValue: 0x02)
    package static let triplePress = Self(rawValue: 0x03)
    package static let longPress = Self(rawValue: 0x04)
    package static let longDoublePress = Self(rawValue: 0x05)
    package static let longTriplePress = Self(rawValue: 0x06)
    package static let holdPress = Self(rawValue: 0x80)
}

extension BTHomeButtonEvent: CustomStringConvertible {
    /// In words, or the number.
    public var description: String {
        switch self {
        case .none: "none"
        case .press: "press"
        case .doublePress: "double press"
        case .triplePress: "triple press"
        case .longPress: "long press"
        case .longDoublePress: "long double press"
        case .longTriplePress: "long triple press"
        case .holdPress: "hold press"
        default: "0x" + rawValue.hex
        }
    }
}

/// What other devices are asked to do.
public struct BTHomeCommand: RawRepresentable, Hashable, Sendable {
    /// The number of the command in the format.
    public let rawValue: UInt8

    /// The command with that number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let off = Self(rawValue: 0)
    package static let on = Self(rawValue: 1)
    /// Be the other way.
    package static let toggle = Self(rawValue: 2)
    /// More, by as many steps as the argument says.
    package static let stepUp = Self(rawValue: 3)
    /// Less, by as many steps as the argument says.
    package static let stepDown = Self(rawValue: 4)
}

extension BTHomeCommand: CustomStringConvertible {
    /// In words, or the number.
    public var description: String {
        switch self {
        case .off: "off"
        case .on: "on"
        case .toggle: "toggle"
        case .stepUp: "step up"
        case .stepDown: "step down"
        default: "0x" + rawValue.hex
        }
    }
}
