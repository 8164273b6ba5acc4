import ATT
import BLEAdvertising
import BLECore
import GATTClient

/// The server of a device, as far as a client can read it.
struct DeviceImage: Sendable {
    /// The result of reading an attribute's value.
    struct Shown: Hashable, Sendable {
        /// The value; nil when it could not be read.
        var value: [UInt8]?
        /// The reason why the value was not read.
        var reason: String?
        /// The security level that reading requires.
        var level = SecurityLevel.open
        /// Whether reading requires a longer encryption key.
        var needsLongKey = false
        /// Whether the server never permits reading.
        var isUnreadable = false
    }

    /// The connectable advertisement of the device.
    struct Advertised: Hashable, Sendable {
        /// The advertising data, as octets.
        var data: [UInt8]
        /// The data of the scan response; nil when there is none.
        var scanResponse: [UInt8]?
        /// Whether the packets are those of extended advertising.
        var isExtended: Bool

        /// Whether a configuration can contain the advertisement: `serve` does not send malformed data.
        var isValid: Bool {
            AdvertisingData(data).problem == nil && AdvertisingData(scanResponse ?? []).problem == nil
        }
    }

    var address: DeviceAddress
    /// The device's advertisement, or nil if it is not known.
    var advertised: Advertised?
    /// The ATT_MTU that the device agreed to, or nil if this host offered less than the maximum.
    var mtu: Int?
    var database: RemoteDatabase
    /// The values by attribute handle.
    var shown: [AttributeHandle: Shown] = [:]

    /// Returns the attributes whose values can be read: neither Client Characteristic Configuration
    /// descriptors, which each client has for itself, nor values without the property read.
    static func readable(_ database: RemoteDatabase) -> [AttributeHandle] {
        database.services.flatMap(\.characteristics).flatMap { characteristic in
            (characteristic.properties.contains(.read) ? [characteristic.valueHandle] : [])
                + characteristic.descriptors.filter { $0.uuid != 0x2902 }.map(\.handle)
        }
    }

    /// The handle and type of every attribute, with the properties of values. Two servers with the same
    /// layout look the same to a client that knows one of them.
    var layout: [LayoutRow] {
        var rows: [LayoutRow] = []
        for service in database.services {
            rows.append(
                LayoutRow(service.handle, service.isPrimary ? 0x2800 : 0x2801, end: service.endHandle))
            rows += service.includes.map { LayoutRow($0.handle, 0x2802) }
            for characteristic in service.characteristics {
                rows.append(LayoutRow(characteristic.handle, 0x2803))
                rows.append(
                    LayoutRow(characteristic.valueHandle, characteristic.uuid, characteristic.properties))
                rows += characteristic.descriptors.map { LayoutRow($0.handle, $0.uuid) }
            }
        }
        return rows.sorted { $0.handle < $1.handle }
    }
}

/// An attribute as discovery reports it.
struct LayoutRow: Hashable, Sendable {
    var handle: AttributeHandle
    var uuid: BluetoothUUID
    /// The properties, if the attribute is a characteristic's value.
    var properties: CharacteristicProperties?
    /// The last handle, if the attribute declares a service.
    var end: AttributeHandle?

    init(
        _ handle: AttributeHandle, _ uuid: BluetoothUUID, _ properties: CharacteristicProperties? = nil,
        end: AttributeHandle? = nil
    ) {
        self.end = end
        self.handle = handle
        self.uuid = uuid
        self.properties = properties
    }
}

/// The conversion of a device's image to a configuration.
extension DeviceImage {
    /// The device's name, or nil if it is not a valid name.
    var name: String? {
        guard let octets = value(of: 0x2a00), (1...ServeConfiguration.nameLimit).contains(octets.count) else {
            return nil
        }
        return String(validating: octets, as: UTF8.self)
    }

    private func value(of uuid: BluetoothUUID) -> [UInt8]? {
        database.service(0x1800)?.characteristic(uuid).flatMap { shown[$0.valueHandle]?.value }
    }

    /// Returns the configuration with that fidelity, which `serve` may reject.
    func node(_ fidelity: ClonedConfiguration.Fidelity) -> CommentedNode {
        let hasStandard = fidelity.hasStandardServices
        let services = database.services.filter {
            !hasStandard || ![0x1800, 0x1801].contains($0.uuid)
        }
        var fields: [CommentedNode.Field] = []
        if let name { fields.append(.init("name", .text(name))) }
        fields.append(advertise(hasStandard))
        if let mtu { fields.append(.init("mtu", .number(mtu))) }
        if fidelity.allowsContradictions {
            fields.append(.init("strict", .flag(false), "the device contradicts itself"))
            if lacksDescriptors { fields.append(.init("standardDescriptors", .flag(false))) }
        }
        if !hasStandard { fields.append(.init("standardServices", .flag(false))) }
        let writer = ServiceWriter(image: self, services: services, fidelity: fidelity)
        fields.append(.init("services", services.isEmpty ? .row([]) : .list(services.map(writer.item))))
        return .mapping(fields)
    }

    private func advertise(_ hasStandard: Bool) -> CommentedNode.Field {
        var fields: [CommentedNode.Field] = []
        let appearance = value(of: 0x2a01).flatMap { $0.count == 2 ? Int(UInt16(littleEndian: $0)) : nil }
        if hasStandard, let appearance, appearance != 0 {
            fields.append(.init("appearance", .number(appearance)))
        }
        if let advertised, advertised.isValid {
            fields.append(.init("raw", .text(advertised.data.hex)))
            if let response = advertised.scanResponse, !response.isEmpty {
                fields.append(.init("rawScanResponse", .text(response.hex)))
            }
            if advertised.isExtended { fields.append(.init("extended", .flag(true))) }
            return .init("advertise", .fields(fields))
        }
        // Flags, appearance and a name of 22 octets fill a packet.
        if let name, name.utf8.count > 22 { fields.append(.init("overflow", .word("shorten-name"))) }
        let why = advertised.map { "what it advertises is malformed: \($0.data.hex)" }
        return .init(
            "advertise", .fields(fields),
            why ?? "no advertisement of it was received; a link does not show it"
        )
    }
}

extension DeviceImage {
    /// The properties that belong to a descriptor (Core Specification 5.4, Vol 3, Part G, 3.3.3).
    fileprivate static let properties: [BluetoothUUID: CharacteristicProperties] = [
        0x2900: .extendedProperties, 0x2902: .anyNotification, 0x2903: .broadcast,
    ]

    /// Whether a characteristic lacks a descriptor that its properties require.
    private var lacksDescriptors: Bool {
        database.services.flatMap(\.characteristics).contains { characteristic in
            Self.properties.contains { uuid, properties in
                !characteristic.properties.isDisjoint(with: properties)
                    && characteristic.descriptor(uuid) == nil
            }
        }
    }
}

extension ClonedConfiguration.Fidelity {
    /// Whether `serve` adds the GAP and GATT services.
    fileprivate var hasStandardServices: Bool {
        switch self {
        case .standard, .moved: true
        case .exact, .partial: false
        case .contradictory(let hasStandardServices): hasStandardServices
        }
    }

    /// Whether the configuration contains `strict: false`.
    fileprivate var allowsContradictions: Bool {
        if case .contradictory = self { true } else { false }
    }

    /// Whether attributes have the device's handles.
    fileprivate var hasHandles: Bool { if case .moved = self { false } else { true } }
}

extension RemoteService {
    /// The handle of the last attribute of the service.
    fileprivate var lastAttribute: AttributeHandle {
        let included = includes.map(\.handle).max() ?? handle
        let characteristics = characteristics.map { $0.descriptors.last?.handle ?? $0.valueHandle }.max()
        return max(included, characteristics ?? included)
    }
}

/// Writes services, characteristics and descriptors of a configuration.
private struct ServiceWriter {
    let image: DeviceImage
    let services: [RemoteService]
    let fidelity: ClonedConfiguration.Fidelity

    func item(_ service: RemoteService) -> CommentedNode.Item {
        var fields: [CommentedNode.Field] = [
            .init("uuid", .word("\(service.uuid)"), Names.name(service.uuid))
        ]
        if !service.isPrimary { fields.append(.init("primary", .flag(false))) }
        if fidelity.hasHandles {
            fields.append(.init("handle", .handle(service.handle)))
            if service.endHandle != service.lastAttribute {
                fields.append(.init("endHandle", .handle(service.endHandle)))
            }
        }
        if !service.includes.isEmpty { fields.append(.init("includes", .list(service.includes.map(item)))) }
        if !service.characteristics.isEmpty {
            fields.append(.init("characteristics", .list(service.characteristics.map(item))))
        }
        return CommentedNode.Item(node: .mapping(fields))
    }

    private func item(_ include: RemoteInclude) -> CommentedNode.Item {
        let name = Names.name(include.uuid)
        if fidelity.hasHandles {
            return .init(node: .fields([.init("handle", .handle(include.serviceHandle))]), comment: name)
        }
        guard services.count(where: { $0.uuid == include.uuid }) == 1 else {
            return .init(comment: "not told apart from others: \(include.uuid) at \(include.serviceHandle)")
        }
        return .init(node: .fields([.init("uuid", .word("\(include.uuid)"))]), comment: name)
    }

    private func item(_ characteristic: RemoteCharacteristic) -> CommentedNode.Item {
        let shown = image.shown[characteristic.valueHandle] ?? DeviceImage.Shown()
        var fields: [CommentedNode.Field] = [
            .init("uuid", .word("\(characteristic.uuid)"), Names.attribute(characteristic.uuid))
        ]
        if fidelity.hasHandles {
            fields.append(.init("handle", .handle(characteristic.handle)))
            // By default, the value's handle follows that of the declaration.
            if characteristic.valueHandle.rawValue != characteristic.handle.rawValue &+ 1 {
                fields.append(.init("valueHandle", .handle(characteristic.valueHandle)))
            }
        }
        fields.append(.init("properties", .row(characteristic.properties.names.map { .word($0) })))
        if let permissions = shown.permissions(mayBeNone: fidelity.allowsContradictions) {
            fields.append(.init("permissions", permissions))
        }
        fields += shown.valueFields(
            ValueType(of: characteristic.uuid, presentation: presentation(characteristic)))
        var seen: Set<BluetoothUUID> = []
        let descriptors = characteristic.descriptors.map { descriptor in
            item(descriptor, of: characteristic, isFirst: seen.insert(descriptor.uuid).inserted)
        }
        if !descriptors.isEmpty { fields.append(.init("descriptors", .list(descriptors))) }
        return CommentedNode.Item(node: .mapping(fields))
    }

    private func presentation(_ characteristic: RemoteCharacteristic) -> [UInt8]? {
        characteristic.descriptor(0x2904).flatMap { image.shown[$0.handle]?.value }
    }

    private func item(
        _ descriptor: RemoteDescriptor, of characteristic: RemoteCharacteristic, isFirst: Bool
    ) -> CommentedNode.Item {
        let shown = image.shown[descriptor.handle] ?? DeviceImage.Shown()
        let name = Names.attribute(descriptor.uuid)
        if let problem = problem(descriptor, characteristic.properties, shown.value, isFirst: isFirst) {
            return .init(comment: "left out: \(descriptor.uuid) at \(descriptor.handle), \(problem)")
        }
        var fields: [CommentedNode.Field] = [.init("uuid", .word("\(descriptor.uuid)"))]
        if fidelity.hasHandles { fields.append(.init("handle", .handle(descriptor.handle))) }
        if descriptor.uuid == 0x2902 { return .init(node: .fields(fields), comment: name) }
        if let permissions = shown.permissions(mayBeNone: true) ?? writable(descriptor, characteristic) {
            fields.append(.init("permissions", permissions))
        }
        let value = shown.valueFields(ValueType(of: descriptor.uuid))
        fields += value
        let comments = [name, value.first?.comment ?? shown.reason.map { "not read: \($0)" }]
        return .init(
            node: .fields(fields), comment: comments.compactMap { $0 }.joined(separator: "; "))
    }

    /// Returns the reason why `serve` would reject the descriptor (Core Specification 5.4, Vol 3, Part G,
    /// 3.3.3), or nil.
    private func problem(
        _ descriptor: RemoteDescriptor, _ properties: CharacteristicProperties, _ value: [UInt8]?,
        isFirst: Bool
    ) -> String? {
        guard !fidelity.allowsContradictions else { return nil }
        let wanted = DeviceImage.properties[descriptor.uuid]
        if let wanted, properties.isDisjoint(with: wanted) {
            return "which belongs to the property \(wanted)"
        }
        if wanted != nil || descriptor.uuid == 0x2901, !isFirst { return "the second of its kind" }
        let sizes: [BluetoothUUID: Int] = [0x2900: 2, 0x2903: 2, 0x2904: 7]
        guard let size = sizes[descriptor.uuid], descriptor.uuid == 0x2904 || value != nil,
            value?.count != size
        else { return nil }
        return value.map { "whose value \($0.hex) has not \(size) octets" } ?? "whose value could not be read"
    }

    /// Returns the permissions of a user description that clients can write, otherwise nil.
    private func writable(
        _ descriptor: RemoteDescriptor, _ characteristic: RemoteCharacteristic
    ) -> CommentedNode? {
        let extended = characteristic.descriptor(0x2900).flatMap { image.shown[$0.handle]?.value?.first }
        let bit = UInt8(ExtendedCharacteristicProperties.writableAuxiliaries.rawValue)
        guard descriptor.uuid == 0x2901, let extended, extended & bit != 0 else { return nil }
        return .fields([.init("write", .word(SecurityLevel.open.configurationWord))])
    }
}

extension DeviceImage.Shown {
    /// Returns the permissions that reading requires, or nil if it requires none. `none` is used only if
    /// `mayBeNone`.
    fileprivate func permissions(mayBeNone: Bool) -> CommentedNode? {
        if isUnreadable, mayBeNone { return .fields([.init("read", .word("none"))]) }
        var fields: [CommentedNode.Field] = []
        let level = needsLongKey && level == .open ? SecurityLevel.encrypted : level
        if level != .open { fields.append(.init("read", .word(level.configurationWord))) }
        if needsLongKey { fields.append(.init("keySize", .number(16))) }
        return fields.isEmpty ? nil : .fields(fields)
    }

    /// Returns the value, up to the length that `serve` stores, with its meaning as a comment.
    fileprivate func valueFields(_ type: ValueType?) -> [CommentedNode.Field] {
        guard let value else {
            return reason.map { [.init("value", .fields([.init("hex", .text(""))]), "not read: \($0)")] }
                ?? []
        }
        let kept = Array(value.prefix(StoredValue.limit))
        var comment = kept.count < value.count ? "truncated: it has \(value.count) octets" : nil
        if let text = String(validating: kept, as: UTF8.self), text.printable == text,
            kept.count > 2 || type == .text
        {
            return [.init("value", .fields([.init("utf8", .text(text))]), comment)]
        }
        if type?.reading(value) != nil { comment = comment ?? ValueFormat.auto.text(value, type: type) }
        return [.init("value", .fields([.init("hex", .text(kept.hex))]), comment)]
    }
}
