import ATT
import BLECore

/// The types of the attributes of one server, as discovery in the recording reported them.
struct AttributeNames: Sendable {
    private var types: [AttributeHandle: BluetoothUUID] = [:]
    /// The services by the handles of their declarations.
    private var services: [AttributeHandle: (end: AttributeHandle, uuid: BluetoothUUID)] = [:]
    private var serviceStarts: [AttributeHandle] = []
    private var characteristics: [AttributeHandle: BluetoothUUID] = [:]
    private var characteristicStarts: [AttributeHandle] = []

    /// The number of known attributes.
    var count: Int { types.count }

    /// Adds the attributes that the response to a request reports.
    mutating func take(_ response: ATTResponse, to request: ATTRequest) {
        switch (request, response) {
        case (.readByGroupType(_, let type), .readByGroupType(let groups)):
            for group in groups { declare(group.handle, type.uuid, group.value, end: group.groupEnd) }
        case (.findByTypeValue(_, let type, let value), .findByTypeValue(let found)):
            for group in found {
                declare(group.handle, BluetoothUUID(type), value[...], end: group.groupEnd)
            }
        case (.findInformation, .findInformation(let found)):
            for attribute in found { types[attribute.handle] = attribute.type.uuid }
        case (.readByType(_, let type), .readByType(let list)):
            for attribute in list {
                types[attribute.handle] = type.uuid
                if type.uuid == .characteristic { declare(attribute.handle, attribute.value) }
            }
        default: break
        }
    }

    private mutating func declare(
        _ handle: AttributeHandle, _ type: BluetoothUUID, _ value: ArraySlice<UInt8>, end: AttributeHandle
    ) {
        guard let declaration = try? ServiceDeclaration([UInt8](value)) else { return }
        types[handle] = type
        if services.updateValue((end, declaration.uuid), forKey: handle) == nil {
            serviceStarts.insert(handle, at: serviceStarts.count(upTo: handle))
        }
    }

    private mutating func declare(_ handle: AttributeHandle, _ value: ArraySlice<UInt8>) {
        guard let declaration = try? CharacteristicDeclaration([UInt8](value)) else { return }
        types[declaration.valueHandle] = declaration.uuid
        if characteristics.updateValue(declaration.uuid, forKey: handle) == nil {
            characteristicStarts.insert(handle, at: characteristicStarts.count(upTo: handle))
        }
    }

    /// Returns the type, characteristic and service of an attribute, as far as they are known.
    func attribute(_ handle: AttributeHandle) -> DecodedAttribute {
        var attribute = DecodedAttribute(handle: handle, uuid: types[handle])
        var first = AttributeHandle.none
        if let start = serviceStarts.last(upTo: handle), let service = services[start], handle <= service.end
        {
            (attribute.service, first) = (service.uuid, start)
        }
        // A descriptor follows the declaration of its characteristic, in the same service.
        if let uuid = attribute.uuid, let start = characteristicStarts.last(upTo: handle), start >= first,
            start != handle, let characteristic = characteristics[start], characteristic != uuid
        {
            attribute.characteristic = characteristic
        }
        return attribute
    }
}

extension [AttributeHandle] {
    /// Returns how many of these ascending handles are not above `handle`.
    fileprivate func count(upTo handle: AttributeHandle) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    fileprivate func last(upTo handle: AttributeHandle) -> AttributeHandle? {
        let count = count(upTo: handle)
        return count > 0 ? self[count - 1] : nil
    }
}
