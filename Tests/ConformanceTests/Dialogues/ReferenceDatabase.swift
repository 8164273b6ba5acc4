import ATT
import BLECore
import GATTServer
import TestSupport

/// A database that dialogues name. The handles of attributes are explicit, so that a dialogue can be compared
/// with the database. `long(0x10)` is the 128-bit UUID whose octets on the air count up from 0x10.
struct ReferenceDatabase {
    var services: [GATTService]
    /// The generic services before `services`.
    var generic: GenericServices?
    var configuration = ServerOptions()

    static func named(_ name: String) throws -> ReferenceDatabase {
        switch name {
        case "small": return ReferenceDatabase(services: small)
        case "large": return ReferenceDatabase(services: large)
        case "reverse": return ReferenceDatabase(services: reverse)
        case "values": return ReferenceDatabase(services: values)
        case "guarded": return ReferenceDatabase(services: guarded)
        case "pushing": return ReferenceDatabase(services: pushing)
        case "refusing": return ReferenceDatabase(services: refusing)
        case "formats": return ReferenceDatabase(services: formats)
        case "changing":
            return ReferenceDatabase(services: changing, generic: GenericServices(deviceName: "changing"))
        case "heart": return ReferenceDatabase(services: [heart])
        case "described": return ReferenceDatabase(services: described)
        case "empty": return ReferenceDatabase(services: [GATTService(0xff60, handle: 0x0030)])
        case "signing": return ReferenceDatabase(services: signing)
        case "short-queue":
            var configuration = ServerOptions()
            configuration.prepareQueueLimit = 2
            return ReferenceDatabase(services: values, configuration: configuration)
        default: throw Dialogue.Mistake(description: "no database \(name)")
        }
    }
}

/// Returns the 128-bit UUID whose octets on the air are `first`, `first` + 1 and so on.
func long(_ first: UInt8) -> BluetoothUUID {
    BluetoothUUID((0..<16).reversed().reduce(UInt128(0)) { $0 << 8 | UInt128(first &+ $1) })
}

/// Returns a characteristic declared at `handle`, with its value after it.
private func at(
    _ handle: AttributeHandle, _ uuid: BluetoothUUID, _ properties: CharacteristicProperties,
    _ value: [UInt8] = [], length: AttributeLength = .any, extended: ExtendedCharacteristicProperties = [],
    permissions: AttributePermissions? = nil, subscription: SecurityLevel? = nil,
    descriptors: [GATTDescriptor] = []
) -> GATTCharacteristic {
    GATTCharacteristic(
        uuid, properties: properties, extendedProperties: extended, permissions: permissions,
        subscription: subscription, value: .stored(value), length: length, descriptors: descriptors,
        handle: handle)
}

/// Each list of services or characteristics fits into one PDU. 16-bit UUIDs only. 0x0007 is the CCCD.
private let small = [
    GATTService(
        0x1800, handle: 0x0001, characteristics: [at(0x0002, 0x2a00, .read, Array("small".utf8))]),
    GATTService(
        0x180f, handle: 0x0004, characteristics: [at(0x0005, 0x2a19, [.read, .notify], [0x64])]),
]

/// 16-bit UUIDs first, then 128-bit ones; secondary services, includes of both widths and both directions,
/// empty services, more instances than fit a PDU, a service at 0xffff.
private let large =
    [
        GATTService(
            0x1800, handle: 0x0001,
            characteristics: [
                at(0x0002, 0x2a00, .read, Array("large".utf8)), at(0x0004, 0x2a01, .read, [0, 0]),
            ]),
        GATTService(
            0x180a, isPrimary: false, handle: 0x0010,
            characteristics: [at(0x0011, 0x2a29, .read, Array("Acme".utf8))]),
        // The includes are at 0x0021, 0x0022 and 0x0023.
        GATTService(
            0x180d, handle: 0x0020, includes: [.handle(0x0010), .handle(0x0050), .handle(0x0040)],
            characteristics: [
                // 0x0026 is the CCCD.
                at(0x0024, 0x2a37, .notify, [0, 60]), at(0x0027, 0x2a38, .read, [1]),
                at(
                    0x0029, 0x2a39, .write,
                    descriptors: [GATTDescriptor(0x2901, value: Array("point".utf8), handle: 0x002b)]),
            ]),
        GATTService(0x1802, handle: 0x0030),
        GATTService(0x180f, handle: 0x0040, characteristics: [at(0x0041, 0x2a19, .read, [0x64])]),
        // The include is at 0x0051.
        GATTService(
            long(0x00), handle: 0x0050, includes: [.handle(0x0030)],
            characteristics: [
                at(
                    0x0052, long(0x10), [.read, .write], [1, 2, 3],
                    descriptors: [
                        GATTDescriptor(0x2901, value: Array("custom".utf8), handle: 0x0054),
                        GATTDescriptor(long(0x20), value: [0xaa], handle: 0x0055),
                        GATTDescriptor(0x2904, value: [4, 0, 0, 0x27, 1, 0, 0], handle: 0x0056),
                    ]),
                at(0x0057, 0x2a19, .read, [0x32]),
            ]),
    ]
    + (0x0060...0x0064).map { GATTService(0x180f, handle: AttributeHandle($0)) }
    + (0x0070...0x0074).map { GATTService(long(0x00), handle: AttributeHandle($0)) }
    + [GATTService(0x1811, handle: 0xffff)]

/// 128-bit UUIDs first, then 16-bit ones; a characteristic at 0xffff.
private let reverse = [
    GATTService(long(0x00), handle: 0x0001, characteristics: [at(0x0002, long(0x10), .read, [1])]),
    GATTService(long(0x20), handle: 0x0004, characteristics: [at(0x0005, 0x2a19, .read, [0x32])]),
    GATTService(0x180f, handle: 0x0007, characteristics: [at(0x0008, 0x2a19, .read, [0x64])]),
    GATTService(
        0x1800, handle: 0xfff0,
        characteristics: [
            at(0xfff1, 0x2a00, .read, Array("reverse".utf8)), at(0xfffe, 0x2a01, .read, [0, 0]),
        ]),
]

/// Values to read and write. 0x000d and 0x0010 are Extended Properties.
private let values = [
    GATTService(
        0xff00, handle: 0x0001,
        characteristics: [
            at(
                0x0002, 0xff01, [.read, .write, .writeWithoutResponse], [1, 2, 3], length: .variable(max: 8)),
            at(0x0004, 0xff02, .write, [9], length: .variable(max: 8)),
            at(0x0006, 0xff03, .read, [5]),
            at(0x0008, 0xff04, [.read, .write, .writeWithoutResponse], [10, 11, 12], length: .fixed(3)),
            at(
                0x000a, 0xff05, [.read, .write], counting(60), length: .variable(max: 64),
                extended: [.reliableWrite, .writableAuxiliaries],
                descriptors: [
                    GATTDescriptor(
                        0x2901, value: counting(50, from: 0x20), length: .variable(max: 60), handle: 0x000c)
                ]),
            at(
                0x000e, 0xff06, [.read, .write], [0x11], length: .variable(max: 4), extended: .reliableWrite),
            at(0x0011, 0xff01, .read, [4, 5, 6]),
            at(0x0013, 0xff07, .read, counting(22)),
            at(0x0015, 0xff08, .read, counting(512)),
            at(0x0017, 0xff09, .read),
        ])
]

/// Values with security requirements: 0x0003 encryption, 0x0005 an authenticated key, 0x0007 authorization,
/// 0x0009 a key of 16 octets, 0x000d Secure Connections. 0x000b has none.
private let guarded = [
    GATTService(
        0xff10, handle: 0x0001,
        characteristics: [
            at(0x0002, 0xff11, writable, [0x11], permissions: .init(read: .encrypted, write: .encrypted)),
            at(
                0x0004, 0xff12, writable, [0x12],
                permissions: .init(read: .authenticated, write: .authenticated)),
            at(
                0x0006, 0xff13, writable, [0x13],
                permissions: .init(read: .open, write: .open, authorize: true)),
            at(
                0x0008, 0xff14, writable, [0x14],
                permissions: .init(read: .encrypted, write: .encrypted, minimumKeySize: 16)),
            at(0x000a, 0xff15, writable, [0x15]),
            at(
                0x000c, 0xff16, writable, [0x16],
                permissions: .init(read: .secureConnections, write: .secureConnections)),
        ])
]
private let writable: CharacteristicProperties = [.read, .write, .writeWithoutResponse]

/// Values to subscribe to: CCCDs at 0x0004, 0x0007, 0x000a and 0x000d, the last for encrypted links.
private let pushing = [
    GATTService(
        0xff20, handle: 0x0001,
        characteristics: [
            at(0x0002, 0xff21, [.read, .notify], [1]), at(0x0005, 0xff22, [.read, .indicate], [2]),
            at(0x0008, 0xff23, [.notify, .indicate], [3]),
            at(0x000b, 0xff24, .notify, [4], subscription: .encrypted),
        ])
]

/// Values that the application refuses: 0x0003 with 0x80, 0x0005 with 0x9f, 0x0007 with 0xfc, 0x0009 with an
/// error that is not an ATT error. 0x000b is not refused.
private let refusing = [
    GATTService(
        0xff30, handle: 0x0001,
        characteristics: [
            refusal(0x0002, 0xff31, ATTErrorCode(0x80)), refusal(0x0004, 0xff32, ATTErrorCode(0x9f)),
            refusal(0x0006, 0xff33, ATTErrorCode(0xfc)), refusal(0x0008, 0xff34, CancellationError()),
            at(0x000a, 0xff35, writable, [0x35]),
        ])
]

private func refusal(
    _ handle: AttributeHandle, _ uuid: BluetoothUUID, _ error: any Error
) -> GATTCharacteristic {
    GATTCharacteristic(
        uuid, properties: writable, onRead: { _ in throw error }, onWrite: { _ in throw error },
        handle: handle)
}

/// Presentation formats at 0x0004, 0x0007 and 0x0008, an aggregate at 0x0009.
private let formats = [
    GATTService(
        0xff40, handle: 0x0001,
        characteristics: [
            // Hundredths of a degree Celsius.
            at(
                0x0002, 0xff41, .read, [0xd2, 0x04],
                descriptors: [
                    GATTDescriptor(0x2904, value: [0x0e, 0xfe, 0x2f, 0x27, 1, 0, 0], handle: 0x0004)
                ]),
            at(
                0x0005, 0xff42, .read, [0xd2, 0x04, 0x32],
                descriptors: [
                    GATTDescriptor(0x2904, value: [0x0e, 0xfe, 0x2f, 0x27, 1, 0, 0], handle: 0x0007),
                    GATTDescriptor(0x2904, value: [0x04, 0x00, 0xad, 0x27, 1, 0, 0], handle: 0x0008),
                    GATTDescriptor(0x2905, value: [0x07, 0x00, 0x08, 0x00], handle: 0x0009),
                ]),
        ])
]

/// Service Changed is 0x0008, its CCCD 0x0009, Client Supported Features 0x000b, the Database Hash 0x000d,
/// Server Supported Features 0x000f.
private let changing = [
    GATTService(
        0xff50, handle: 0x0010,
        characteristics: [
            at(0x0011, 0xff51, [.read, .notify], [0x51]), at(0x0014, 0xff52, [.read, .indicate], [0x52]),
            at(0x0017, 0xff53, writable, [0x53]), at(0x0019, 0xff54, [.read, .notify], [0x54]),
        ])
]

/// A service that dialogues add and remove: 0x0020 to 0x0023.
private let heart = GATTService(
    0x180d, handle: 0x0020, characteristics: [at(0x0021, 0x2a37, [.read, .write, .notify], [0, 60])])

/// An include at 0x0039, and a descriptor of every kind. The properties imply those at 0x0040 to 0x0042.
private let described = [
    GATTService(
        0x180f, isPrimary: false, handle: 0x0030, characteristics: [at(0x0031, 0x2a19, .read, [0x64])]),
    GATTService(
        0xff80, handle: 0x0038, includes: [.handle(0x0030)],
        characteristics: [
            at(
                0x003a, 0xff81, [.read, .broadcast, .notify], extended: .reliableWrite,
                descriptors: [
                    GATTDescriptor(0x2901, value: Array("a".utf8), handle: 0x003c),
                    GATTDescriptor(0x2904, value: [4, 0, 0, 0x27, 1, 0, 0], handle: 0x003d),
                    GATTDescriptor(0x2905, value: [0x3d, 0], handle: 0x003e),
                    GATTDescriptor(long(0x20), value: [0xaa], handle: 0x003f),
                ])
        ]),
]

/// 0x0012 accepts signed writes, 0x0014 writes of any other kind.
private let signing = [
    GATTService(
        0xff70, handle: 0x0010,
        characteristics: [
            at(0x0011, 0xff71, [.read, .authenticatedSignedWrites], [0], length: .variable(max: 4)),
            at(0x0013, 0xff72, writable, [0]),
        ])
]
