import ATT
import BLECore
import GATTClient

/// The text form of a peer's database in a file.
extension RemoteDatabase {
    static let kind = "database"

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("hash", ifThere: hash?.hex)
        for service in services {
            writer.line(
                "service", service.isPrimary ? "primary" : "secondary", "\(service.uuid)",
                "\(service.handle)",
                "\(service.endHandle)")
            for each in service.includes {
                writer.line(
                    "include", "\(each.uuid)", "\(each.handle)", "\(each.serviceHandle)", "\(each.endHandle)")
            }
            for each in service.characteristics {
                writer.line(
                    "characteristic", "\(each.uuid)", "\(each.handle)", "\(each.valueHandle)",
                    "\(each.endHandle)", "0x\(each.properties.rawValue.hex)")
                for descriptor in each.descriptors {
                    writer.line("descriptor", "\(descriptor.uuid)", "\(descriptor.handle)")
                }
            }
        }
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var hash: [UInt8]?
        var services: [RemoteService] = []
        for line in section.lines {
            switch line.key {
            case "hash": hash = try line.value { [UInt8](hex: $0) }
            case "service": services.append(try RemoteService(line))
            default:
                guard !services.isEmpty else { throw line.isBefore("service") }
                try services[services.count - 1].read(line)
            }
        }
        self.init(services: services, hash: hash)
    }
}

extension RemoteService {
    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = try line.values(4)
        self.init(
            uuid: try line.value(of: words[1]) { try? BluetoothUUID($0) },
            handle: try line.value(of: words[2], TextValue.handle),
            endHandle: try line.value(of: words[3], TextValue.handle),
            isPrimary: try line.value(of: words[0]) { ["primary": true, "secondary": false][$0] })
    }

    /// Reads a line that describes a part of the service.
    fileprivate mutating func read(_ line: TextSection.Line) throws(TextError) {
        switch line.key {
        case "include":
            let words = try line.values(4)
            includes.append(
                RemoteInclude(
                    handle: try line.value(of: words[1], TextValue.handle),
                    uuid: try line.value(of: words[0]) { try? BluetoothUUID($0) },
                    serviceHandle: try line.value(of: words[2], TextValue.handle),
                    endHandle: try line.value(of: words[3], TextValue.handle)))
        case "characteristic":
            let words = try line.values(5)
            characteristics.append(
                RemoteCharacteristic(
                    uuid: try line.value(of: words[0]) { try? BluetoothUUID($0) },
                    handle: try line.value(of: words[1], TextValue.handle),
                    valueHandle: try line.value(of: words[2], TextValue.handle),
                    endHandle: try line.value(of: words[3], TextValue.handle),
                    properties: CharacteristicProperties(
                        rawValue: try line.value(of: words[4], TextValue.bits))))
        case "descriptor":
            guard !characteristics.isEmpty else { throw line.isBefore("characteristic") }
            let words = try line.values(2)
            characteristics[characteristics.count - 1].descriptors.append(
                RemoteDescriptor(
                    uuid: try line.value(of: words[0]) { try? BluetoothUUID($0) },
                    handle: try line.value(of: words[1], TextValue.handle)))
        default: throw line.isUnknown
        }
    }
}
