import ATT
import BLECore

/// Finds services, without their contents (Core Specification 5.4, Vol 3, Part G, 4.4).
package struct DiscoverServices: WalkingProcedure {
    package static let isPreparation = true

    /// The services in ascending order of handles; in the server's order if that is another, which is a fault.
    package typealias Output = [RemoteService]

    var walk: AttributeWalk
    private(set) var result: [RemoteService] = []
    private let isPrimary: Bool
    /// The type, if it was in the request, because the server does not repeat it.
    private let uuid: BluetoothUUID?

    private init(_ walk: AttributeWalk, isPrimary: Bool, uuid: BluetoothUUID? = nil) {
        self.walk = walk
        self.isPrimary = isPrimary
        self.uuid = uuid
    }

    /// The procedure that finds all primary services (4.4.1).
    package static var primary: DiscoverServices {
        DiscoverServices(AttributeWalk(.groups(.primaryService), in: .all), isPrimary: true)
    }

    /// Returns the procedure that finds the primary services of one type (4.4.2).
    package static func primary(_ uuid: BluetoothUUID) -> DiscoverServices {
        let value = ServiceDeclaration(uuid).encoded
        let walk = AttributeWalk(.matchingGroups(0x2800, value: value), in: .all)
        return DiscoverServices(walk, isPrimary: true, uuid: uuid)
    }

    /// The procedure that finds all secondary services. The specification defines none, but allows servers to
    /// group by their declarations (2.5.3); a server that does not do so has no secondary services to find.
    package static var secondary: DiscoverServices {
        let walk = AttributeWalk(
            .groups(.secondaryService), in: .all,
            endings: [.attributeNotFound, .unsupportedGroupType, .requestNotSupported])
        return DiscoverServices(walk, isPrimary: false)
    }

    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        let type: BluetoothUUID
        if let uuid {
            type = uuid
        } else {
            guard let declaration = try walk.declaration(entry, ServiceDeclaration.self) else { return }
            type = declaration.uuid
        }
        result.append(
            RemoteService(uuid: type, handle: entry.handle, endHandle: entry.end, isPrimary: isPrimary))
    }
}
