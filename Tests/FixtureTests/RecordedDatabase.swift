import ATT
import BLECore
import GATTServer
import Recordings

/// The attributes of a recorded server, from its responses.
struct RecordedDatabase {
    private struct Service {
        let uuid: BluetoothUUID
        let isPrimary: Bool
        let end: AttributeHandle
    }

    private var groups: [AttributeHandle: Service] = [:]
    private var includes: [AttributeHandle: AttributeHandle] = [:]
    private var characteristics: [AttributeHandle: CharacteristicDeclaration] = [:]
    private var types: [AttributeHandle: BluetoothUUID] = [:]
    /// The values that were read first, before a client wrote them.
    private var values: [AttributeHandle: [UInt8]] = [:]
    private var written: Set<AttributeHandle> = []

    init(_ dialogue: RecordedDialogue) {
        var asked: [Int: ATTRequest] = [:]
        for turn in dialogue.turns {
            switch turn {
            case .client(.request(let request), let link): asked[link] = request
            case .client(.command(let command), _): written.insert(command.handle)
            case .server(.response(let response), let link):
                if let request = asked.removeValue(forKey: link) { take(from: response, to: request) }
            default: break
            }
        }
    }

    private mutating func take(from response: ATTResponse, to request: ATTRequest) {
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
                take(attribute.handle, type.uuid, [UInt8](attribute.value))
            }
        case (.read(let handle), .read(let value)): keep(value, of: handle, from: 0)
        case (.readBlob(let handle, let offset), .readBlob(let value)):
            keep(value, of: handle, from: Int(offset))
        case (.write(let handle, _), .write), (.prepareWrite(let handle, _, _), .prepareWrite):
            written.insert(handle)
        default: break
        }
    }

    private mutating func declare(
        _ handle: AttributeHandle, _ type: BluetoothUUID, _ value: ArraySlice<UInt8>, end: AttributeHandle
    ) {
        guard let declaration = try? ServiceDeclaration([UInt8](value)) else { return }
        types[handle] = type
        groups[handle] = Service(uuid: declaration.uuid, isPrimary: type == .primaryService, end: end)
    }

    private mutating func take(_ handle: AttributeHandle, _ type: BluetoothUUID, _ value: [UInt8]) {
        switch type {
        case .include: includes[handle] = (try? IncludeDeclaration(value))?.start
        case .characteristic: characteristics[handle] = try? CharacteristicDeclaration(value)
        default: keep(value, of: handle, from: 0)
        }
    }

    private mutating func keep(_ value: [UInt8], of handle: AttributeHandle, from offset: Int) {
        guard !written.contains(handle) else { return }
        if let known = values[handle] {
            if offset > 0, offset == known.count { values[handle] = known + value }
        } else if offset == 0 {
            values[handle] = value
        }
    }
}

extension RecordedDatabase {
    /// The services with their recorded handles.
    var services: [GATTService] {
        groups.sorted { $0.key < $1.key }.map { handle, service in
            let inside = types.keys.filter { handle < $0 && $0 <= service.end }.sorted()
            let starts = inside.filter { characteristics[$0] != nil }
            return GATTService(
                service.uuid, isPrimary: service.isPrimary, handle: handle,
                includes: inside.compactMap { includes[$0].map { .handle($0) } },
                characteristics: starts.indices.compactMap { index in
                    let next = index + 1 < starts.count ? starts[index + 1] : .last
                    return characteristic(at: starts[index], inside.filter { $0 < next })
                })
        }
    }

    private func characteristic(at handle: AttributeHandle, _ inside: [AttributeHandle])
        -> GATTCharacteristic?
    {
        guard let declaration = characteristics[handle] else { return nil }
        return GATTCharacteristic(
            declaration.uuid, properties: declaration.properties,
            value: .stored(values[declaration.valueHandle] ?? []),
            descriptors: inside.filter { $0 > declaration.valueHandle }.compactMap(descriptor),
            handle: handle, valueHandle: declaration.valueHandle)
    }

    /// Returns the descriptor at a handle. It is writable if it was written, because discovery does not show
    /// whether it is.
    private func descriptor(at handle: AttributeHandle) -> GATTDescriptor? {
        guard let type = types[handle] else { return nil }
        let write: AttributePermissions? =
            written.contains(handle) ? AttributePermissions(read: .open, write: .open) : nil
        return GATTDescriptor(type, permissions: write, value: values[handle] ?? [], handle: handle)
    }
}
