import ATT
import BLECore

/// The attributes of one service, laid out from a handle on.
struct ServiceLayout {
    /// An include declaration whose value is set after the other services are laid out.
    struct PendingInclude {
        let index: Int
        let target: GATTInclude
    }

    let place: DatabaseError.Place
    let uuid: BluetoothUUID
    /// Whether contradictions stay as they are described.
    let allowsContradictions: Bool
    private(set) var attributes: [Attribute] = []
    private(set) var includes: [PendingInclude] = []
    /// The last handle of the service, if it is not that of the last attribute.
    private var end: AttributeHandle?
    /// The lowest free handle; 0x10000 if there is none.
    private var next: Int

    /// Places the declaration at `start`, and each other attribute at the handle that it specifies, or else
    /// after the previous one.
    init(_ service: GATTService, _ place: DatabaseError.Place, at start: Int) throws(DatabaseError) {
        self.place = place
        uuid = service.uuid
        allowsContradictions = service.allowsContradictions
        next = start
        let type: BluetoothUUID = service.isPrimary ? .primaryService : .secondaryService
        let handle = try take(service.handle, place)
        attributes.append(
            Attribute(
                handle, type, .declaration,
                value: ServiceDeclaration(
                    type: AttributeType(service.uuid, isLong: service.hasLongUUID)
                ).encoded))
        for target in service.includes {
            includes.append(PendingInclude(index: attributes.count, target: target))
            attributes.append(Attribute(try take(nil, place), .include, .declaration, value: []))
        }
        for (number, characteristic) in service.characteristics.enumerated() {
            try add(characteristic, place.characteristic(number, characteristic.uuid))
        }
        if let wanted = service.endHandle, wanted != span.end {
            guard wanted > (allowsContradictions ? span.start : span.end) else {
                throw DatabaseError(place, .endHandleTooLow(wanted, last: span.end))
            }
            end = wanted
        }
        attributes[0].groupEnd = range.end
    }

    /// The handles of the service, from its declaration to its end.
    var range: AttributeRange { AttributeRange(span.start, end ?? span.end) }

    /// The handles of the first and the last attribute.
    var span: AttributeRange {
        AttributeRange(attributes.first?.handle ?? .none, attributes.last?.handle ?? .none)
    }

    /// The handles that no other service may have: services that contradict each other have at least attributes of
    /// their own.
    var claimed: AttributeRange { allowsContradictions ? span : range }

    /// Sets the value of the include declaration at `include.index` to the included service.
    mutating func resolve(_ include: PendingInclude, as included: Included) {
        attributes[include.index].value =
            IncludeDeclaration(
                start: included.range.start, end: included.range.end, uuid: included.uuid
            ).encoded
    }

    private mutating func take(
        _ wanted: AttributeHandle?, _ place: DatabaseError.Place
    ) throws(DatabaseError) -> AttributeHandle {
        let number = wanted.map { Int($0.rawValue) } ?? next
        guard number >= max(1, next) else { throw DatabaseError(place, .handleNotFree(wanted ?? .none)) }
        guard let handle = UInt16(exactly: number) else { throw DatabaseError(place, .outOfHandles) }
        next = number + 1
        return AttributeHandle(handle)
    }

    private mutating func add(
        _ characteristic: GATTCharacteristic, _ place: DatabaseError.Place
    ) throws(DatabaseError) {
        let declaration = attributes.count
        let handle = try take(characteristic.handle, place)
        let valueHandle = try take(characteristic.valueHandle, place)
        let declared = CharacteristicDeclaration(
            properties: characteristic.properties, valueHandle: valueHandle,
            type: AttributeType(characteristic.uuid, isLong: characteristic.hasLongUUID))
        attributes.append(Attribute(handle, .characteristic, .declaration, value: declared.encoded))
        let permissions = try checkedPermissions(
            characteristic, place, allowsContradictions: allowsContradictions)
        attributes.append(
            Attribute(
                valueHandle, characteristic.uuid, .value(characteristic.properties),
                value: try checkedValue(characteristic.value.octets, characteristic.length, place),
                isCached: try checkedCaching(characteristic, permissions, place),
                hasLongType: characteristic.hasLongUUID,
                permissions: permissions, length: characteristic.length, role: characteristic.role,
                onRead: characteristic.onRead, onWrite: characteristic.onWrite)
        )
        let descriptors = try characteristic.allDescriptors(place, allowsContradictions: allowsContradictions)
        for (number, descriptor) in descriptors.enumerated() {
            try add(
                descriptor, of: characteristic, valueHandle, place.descriptor(number, descriptor.uuid))
        }
        attributes[declaration].groupEnd = span.end
    }

    private mutating func add(
        _ descriptor: GATTDescriptor, of characteristic: GATTCharacteristic, _ valueHandle: AttributeHandle,
        _ place: DatabaseError.Place
    ) throws(DatabaseError) {
        let isConfiguration = descriptor.uuid == .clientCharacteristicConfiguration
        let length = isConfiguration ? .fixed(2) : descriptor.length
        let permissions = descriptor.permissions ?? characteristic.permissions(for: descriptor)
        attributes.append(
            Attribute(
                try take(descriptor.handle, place), descriptor.uuid,
                isConfiguration
                    ? .clientConfiguration(of: valueHandle, characteristic.properties) : .descriptor,
                value: isConfiguration ? [0, 0] : try checkedValue(descriptor.value, length, place),
                hasLongType: descriptor.hasLongUUID,
                permissions: try checkedKeySize(permissions, place), length: length,
                onRead: isConfiguration ? nil : descriptor.onRead,
                onWrite: isConfiguration ? nil : descriptor.onWrite))
    }
}

/// Returns the value if it has an allowed length; a fixed length without a value gives that many zeros.
private func checkedValue(
    _ value: [UInt8], _ length: AttributeLength, _ place: DatabaseError.Place
) throws(DatabaseError) -> [UInt8] {
    guard (0...ATTLimits.valueLength).contains(length.maximum) else {
        throw DatabaseError(place, .lengthOutOfRange(length.maximum))
    }
    guard value.count <= length.maximum else {
        throw DatabaseError(place, .valueTooLong(octets: value.count, maximum: length.maximum))
    }
    guard case .fixed(let count) = length, value.count != count else { return value }
    guard value.isEmpty else { throw DatabaseError(place, .valueNotFixed(octets: value.count, count: count)) }
    return [UInt8](repeating: 0, count: count)
}

private func checkedPermissions(
    _ characteristic: GATTCharacteristic, _ place: DatabaseError.Place, allowsContradictions: Bool
) throws(DatabaseError) -> AttributePermissions {
    let properties = characteristic.properties
    let permissions = characteristic.permissions ?? AttributePermissions(impliedBy: properties)
    guard !allowsContradictions else { return try checkedKeySize(permissions, place) }
    if permissions.read == .none, properties.contains(.read) {
        throw DatabaseError(place, .propertyNotPermitted(.read))
    }
    let writes = properties.intersection(.anyWrite)
    if permissions.write == .none, !writes.isEmpty {
        throw DatabaseError(place, .propertyNotPermitted(writes))
    }
    return try checkedKeySize(permissions, place)
}

/// Returns whether the value is cached. Throws if properties, permissions or handlers would let a cached
/// value change.
private func checkedCaching(
    _ characteristic: GATTCharacteristic, _ permissions: AttributePermissions, _ place: DatabaseError.Place
) throws(DatabaseError) -> Bool {
    guard case .cached = characteristic.value else { return false }
    let changing = characteristic.properties.intersection([.anyWrite, .notify, .indicate])
    guard changing.isEmpty, permissions.write == .none else {
        throw DatabaseError(place, .cachedValueChanges(changing.isEmpty ? .write : changing))
    }
    guard characteristic.onRead == nil, characteristic.onWrite == nil else {
        throw DatabaseError(place, .cachedValueHandled)
    }
    return true
}

private func checkedKeySize(
    _ permissions: AttributePermissions, _ place: DatabaseError.Place
) throws(DatabaseError) -> AttributePermissions {
    guard (7...16).contains(permissions.minimumKeySize) else {
        throw DatabaseError(place, .keySizeOutOfRange(permissions.minimumKeySize))
    }
    return permissions
}
