import BLECore

/// One object of a BTHome packet. A packet can have several of a kind: two thermometers, four buttons.
public enum BTHomeObject: Hashable, Sendable {
    /// The number of the packet, by which receivers recognize repeated packets.
    case packetIdentifier(UInt8)
    /// A measured quantity or a count, with its property.
    case measurement(BTHomeProperty, Quantity)
    /// A state with two values.
    case state(BTHomeState, Bool)
    /// A point in time, to the second.
    case time(Timestamp)
    /// An event of a button; a packet has one such object for each button, in the order of the buttons.
    case button(BTHomeButtonEvent)
    /// A command to other devices, with its arguments.
    case command(BTHomeCommand, [UInt8])
    /// The number of steps by which a dimmer was turned, positive to the right; 0 if it was not turned.
    case dimmer(Int)
    /// A text of at most 255 octets.
    case text(UTF8Text)
    /// Octets whose format the manufacturer defines.
    case raw([UInt8])
    /// The kind of the device: a number that the manufacturer defines.
    case deviceType(UInt16)
    /// The version of the firmware in three or four numbers, major number first.
    case firmware([UInt8])
}

/// An event of a button.
public struct BTHomeButtonEvent: RawRepresentable, Hashable, Sendable {
    /// The number of the event in the format.
    public let rawValue: UInt8

    /// Creates an event from its number, which can be unknown.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No event: another button of the same device was used.
    public static let noEvent = Self(rawValue: 0)
    /// The button was pressed once.
    public static let press = Self(rawValue: 0x01)
    /// The button was pressed twice.
    public static let doublePress = Self(rawValue: 0x02)
    /// The button was pressed three times.
    public static let triplePress = Self(rawValue: 0x03)
    /// The button was pressed once, for a long time.
    public static let longPress = Self(rawValue: 0x04)
    /// The button was pressed twice, for a long time each.
    public static let longDoublePress = Self(rawValue: 0x05)
    /// The button was pressed three times, for a long time each.
    public static let longTriplePress = Self(rawValue: 0x06)
    /// The button is being held.
    public static let holdPress = Self(rawValue: 0x80)
}

extension BTHomeButtonEvent: CustomStringConvertible {
    /// The event in words, or its number if it is unknown.
    public var description: String {
        switch self {
        case .noEvent: "none"
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

/// A command to other devices.
public struct BTHomeCommand: RawRepresentable, Hashable, Sendable {
    /// The number of the command in the format.
    public let rawValue: UInt8

    /// Creates a command from its number, which can be unknown.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Switches the other devices off.
    public static let off = Self(rawValue: 0)
    /// Switches the other devices on.
    public static let on = Self(rawValue: 1)
    /// Switches to the other state.
    public static let toggle = Self(rawValue: 2)
    /// Increases the value by the number of steps in the argument.
    public static let stepUp = Self(rawValue: 3)
    /// Decreases the value by the number of steps in the argument.
    public static let stepDown = Self(rawValue: 4)
}

extension BTHomeCommand: CustomStringConvertible {
    /// The command in words, or its number if it is unknown.
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

extension BTHomeObject {
    /// Reads objects up to the end of the data or up to the first object that cannot be read.
    static func all(_ reader: inout ByteReader) -> (objects: [BTHomeObject], ending: BTHome.Ending?) {
        var objects: [BTHomeObject] = []
        do throws(DecodeError) {
            while reader.remaining > 0 {
                let identifier = try reader.u8("object identifier")
                guard let object = try BTHomeObject(identifier, &reader) else {
                    return (objects, .unknownObject(identifier, left: reader.remaining))
                }
                objects.append(object)
            }
        } catch {
            return (objects, .malformed(error))
        }
        return (objects, nil)
    }

    /// Reads the object after its identifier; nil if the identifier is unknown.
    private init?(_ identifier: UInt8, _ reader: inout ByteReader) throws(DecodeError) {
        if let scale = BTHomeScale.all[identifier] {
            self = .measurement(scale.property, try scale.quantity(&reader))
            return
        }
        if let state = BTHomeState(rawValue: identifier) {
            self = .state(state, try reader.u8("state") != 0)
            return
        }
        switch identifier {
        case 0x00: self = .packetIdentifier(try reader.u8("packet identifier"))
        case 0x3a: self = .button(BTHomeButtonEvent(rawValue: try reader.u8("button event")))
        case 0x3b:
            let count = Int(try reader.u8("number of arguments"))
            let command = BTHomeCommand(rawValue: try reader.u8("command"))
            self = .command(command, try reader.bytes(count, "arguments"))
        case 0x3c: self = .dimmer(try Self.steps(&reader))
        case 0x50: self = .time(Timestamp(milliseconds: 1000 * Int64(try reader.u32("time"))))
        case 0x53:
            let count = Int(try reader.u8("length of the text"))
            self = .text(UTF8Text(try reader.span(count, "text")))
        case 0x54: self = .raw(try reader.bytes(Int(try reader.u8("length of the data")), "data"))
        case 0xf0: self = .deviceType(try reader.u16("device type"))
        case 0xf1: self = .firmware(try reader.bytes(4, "firmware version").reversed())
        case 0xf2: self = .firmware(try reader.bytes(3, "firmware version").reversed())
        default: return nil
        }
    }

    /// Reads a dimmer event and its number of steps.
    private static func steps(_ reader: inout ByteReader) throws(DecodeError) -> Int {
        let event = try reader.u8("dimmer event")
        let steps = Int(try reader.u8("steps"))
        switch event {
        case 0: return 0
        case 1: return -steps
        case 2: return steps
        default: throw reader.invalid("dimmer event", value: event, width: 2)
        }
    }
}
