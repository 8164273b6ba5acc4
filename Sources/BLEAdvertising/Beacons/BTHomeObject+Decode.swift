import BLECore

extension BTHomeObject {
    /// The objects up to the end, or up to what cannot be read.
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

    /// The object that follows its identifier; nil for one that is not known.
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

    /// Event and number of steps.
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
