import BLECore
import GATTClient

/// The result of `gatt … tree`: all attributes of a server.
struct TreeEvent: Event {
    /// The result of reading a value.
    enum Value: Hashable, Sendable {
        case read([UInt8])
        /// The reason why the value could not be read.
        case refused(String)

        /// The value, if there is one.
        var octets: [UInt8]? { if case .read(let octets) = self { octets } else { nil } }

        /// Returns the text behind the attribute in text output.
        func text(_ type: ValueType?) -> String {
            switch self {
            case .read(let octets): " = \(ValueFormat.auto.text(octets, type: type))"
            case .refused(let reason): " (\(reason))"
            }
        }
    }

    struct Service: Hashable, Sendable {
        var uuid: BluetoothUUID
        var handle: AttributeHandle
        var endHandle: AttributeHandle
        var isPrimary = true
        var includes: [Include] = []
        var characteristics: [Characteristic] = []
    }

    /// A service that another one includes.
    struct Include: Hashable, Sendable {
        var uuid: BluetoothUUID
        var handle: AttributeHandle
        var endHandle: AttributeHandle
    }

    struct Characteristic: Hashable, Sendable {
        var uuid: BluetoothUUID
        var handle: AttributeHandle
        var valueHandle: AttributeHandle
        /// The properties' names, in the order of their bits.
        var properties: [String]
        /// The value, if it was requested.
        var value: Value?
        var descriptors: [Descriptor] = []
    }

    struct Descriptor: Hashable, Sendable {
        var uuid: BluetoothUUID
        var handle: AttributeHandle
        /// The value, if it was requested.
        var value: Value?
    }

    var address: DeviceAddress
    /// The ATT_MTU of the connection.
    var mtu: Int
    var services: [Service]
    /// What is wrong with the server's database, and was corrected or left out.
    var faults: [DatabaseFault] = []
    var name: @Sendable (BluetoothUUID) -> String?

    var json: JSONValue {
        [
            "event": "tree", "address": JSONValue(address), "mtu": JSONValue(mtu),
            "services": .array(services.map(\.json)), "faults": .array(faults.map(\.json)),
        ]
    }

    func lines(colored: Bool) -> [String] {
        if services.isEmpty { return ["\(address) has no services"] }
        return services.flatMap { service in
            let kind = service.isPrimary ? "service" : "secondary service"
            let head = Style.bold("\(kind) \(title(service.uuid))", when: colored)
            let range = Style.dim("\(service.handle)-\(service.endHandle)", when: colored)
            let includes = service.includes.map {
                "  includes \(title($0.uuid)) \($0.handle)-\($0.endHandle)"
            }
            return ["\(head)  \(range)"] + includes + service.characteristics.flatMap { lines($0, colored) }
        }
    }

    private func lines(_ characteristic: Characteristic, _ colored: Bool) -> [String] {
        let type = ValueType(
            of: characteristic.uuid,
            presentation: characteristic.descriptors.first { $0.uuid == 0x2904 }?.value?.octets)
        let value = characteristic.value?.text(type) ?? ""
        let handle = Style.dim("\(characteristic.valueHandle)", when: colored)
        let properties = "[\(characteristic.properties.joined(separator: " "))]"
        return ["  \(attributeTitle(characteristic.uuid))  \(handle)  \(properties)\(value)"]
            + characteristic.descriptors.map { descriptor in
                let text = descriptor.value?.text(ValueType(of: descriptor.uuid)) ?? ""
                let handle = Style.dim("\(descriptor.handle)", when: colored)
                return "    \(attributeTitle(descriptor.uuid))  \(handle)\(text)"
            }
    }

    private func title(_ uuid: BluetoothUUID) -> String { name(uuid).map { "\(uuid) \($0)" } ?? "\(uuid)" }

    private func attributeTitle(_ uuid: BluetoothUUID) -> String {
        Names.isOfMember(uuid) ? "\(uuid)" : title(uuid)
    }
}

extension TreeEvent.Service {
    fileprivate var json: JSONValue {
        [
            "uuid": JSONValue(uuid), "handle": JSONValue(handle), "endHandle": JSONValue(endHandle),
            "primary": JSONValue(isPrimary),
            "includes": .array(
                includes.map {
                    [
                        "uuid": JSONValue($0.uuid), "handle": JSONValue($0.handle),
                        "endHandle": JSONValue($0.endHandle),
                    ]
                }),
            "characteristics": .array(characteristics.map(\.json)),
        ]
    }
}

extension TreeEvent.Characteristic {
    fileprivate var json: JSONValue {
        [
            "uuid": JSONValue(uuid), "handle": JSONValue(handle), "valueHandle": JSONValue(valueHandle),
            "properties": .array(properties.map { JSONValue($0) }), "value": JSONValue(value?.octets?.hex),
            "descriptors": .array(
                descriptors.map {
                    [
                        "uuid": JSONValue($0.uuid), "handle": JSONValue($0.handle),
                        "value": JSONValue($0.value?.octets?.hex),
                    ]
                }),
        ]
    }
}

extension DatabaseFault {
    /// `{"handle":17,"uuid":"2a00","problem":"…"}`, without `uuid` if it is not known.
    var json: JSONValue {
        .object(
            [.init("handle", JSONValue(handle))] + (uuid.map { [.init("uuid", JSONValue($0))] } ?? [])
                + [.init("problem", .string("\(problem)"))])
    }
}
