import ATT
import BLECore
import GATTServer

/// A random database, described to our server and to the model at the same time.
struct RandomDatabase {
    private(set) var services: [GATTService] = []
    private(set) var model = ReferenceModel()
    private var random: SplitMix64
    private var next = 1

    static let uuids: [BluetoothUUID] = [0x180f, 0x2a19, 0xff01, long(0x00), long(0x10)]

    init(_ random: inout SplitMix64) {
        self.random = SplitMix64(seed: random.next())
        let isAtTheEnd = self.random.one(in: 10)
        for _ in 0..<self.random.number(0...7) { addService() }
        if isAtTheEnd {
            next = 0xffff
            addService(isEmpty: true)
        }
    }

    private mutating func addService(isEmpty: Bool = false) {
        next += isEmpty || random.one(in: 2) ? 0 : random.number(0...5)
        let index = model.attributes.count
        let uuid = random.element(Self.uuids)
        var service = GATTService(uuid, isPrimary: !random.one(in: 4), handle: AttributeHandle(UInt16(next)))
        let declared = next
        let earlier = services.compactMap(\.handle)
        add(service.isPrimary ? 0x2800 : 0x2801, .declaration, octets(of: uuid))
        if !isEmpty {
            for _ in 0..<random.number(0...2) where !earlier.isEmpty {
                let included = random.element(earlier)
                service.includes.append(.handle(included))
                addInclude(Int(included.rawValue))
            }
            for _ in 0..<random.number(0...4) { service.characteristics.append(addCharacteristic()) }
        }
        model.attributes[index].groupEnd = isEmpty ? declared : next - 1
        services.append(service)
    }

    private mutating func addInclude(_ start: Int) {
        guard let included = model.attributes.first(where: { $0.handle == start }) else { return }
        let short = included.value.count == 2 ? included.value : []
        add(0x2802, .declaration, model.octets(start) + model.octets(included.groupEnd) + short)
    }

    private mutating func addCharacteristic() -> GATTCharacteristic {
        let uuid = random.element(Self.uuids)
        let bits = UInt8(random.number(0...0x3f)) & 0x3e
        let properties = CharacteristicProperties(rawValue: bits)
        let maximum = random.element([0, 1, 2, 3, 20, 60, 300, 512])
        let isFixed = random.one(in: 3)
        var value = random.bytes(upTo: random.one(in: 2) ? min(3, maximum) : maximum)
        if isFixed { value += [UInt8](repeating: 7, count: maximum - value.count) }

        let index = model.attributes.count
        add(0x2803, .declaration, [bits] + model.octets(next + 1) + octets(of: uuid))
        let kind = ModelAttribute.Kind.value(
            requests: properties.contains(.write), commands: properties.contains(.writeWithoutResponse))
        let isWritable = !properties.isDisjoint(with: .anyWrite)
        var row = ModelAttribute(
            handle: next, type: full(uuid), kind: kind, value: value, groupEnd: next, maximum: maximum,
            isFixed: isFixed)
        row.read = properties.contains(.read) ? level() : nil
        row.write = isWritable ? level() : nil
        row.wantsAuthorization = random.one(in: 6)
        row.keySize = random.one(in: 4) ? random.number(7...16) : 7
        model.attributes.append(row)
        next += 1

        var characteristic = GATTCharacteristic(
            uuid, properties: properties, permissions: permissions(row), value: .stored(value),
            length: isFixed ? .fixed(maximum) : .variable(max: maximum))
        let subscription = random.one(in: 2) ? level() : nil
        characteristic.subscription = subscription.map { SecurityLevel.allCases[$0] }
        for _ in 0..<random.number(0...2) { characteristic.descriptors.append(addDescriptor()) }
        if bits & 0x30 != 0 {
            add(0x2902, .configuration(allowed: bits >> 4 & 3), [0, 0])
            model.attributes[model.attributes.count - 1].write = subscription ?? row.read ?? 0
            model.attributes[model.attributes.count - 1].keySize = row.keySize
            model.attributes[model.attributes.count - 1].maximum = 2
        }
        model.attributes[index].groupEnd = next - 1
        return characteristic
    }

    private mutating func addDescriptor() -> GATTDescriptor {
        let uuid = random.element([0x2901, 0x2904, long(0x20)])
        let value = random.bytes(upTo: random.one(in: 2) ? 4 : 40)
        var row = ModelAttribute(
            handle: next, type: full(uuid), kind: .descriptor, value: value, groupEnd: next, maximum: 40)
        row.read = random.one(in: 5) ? nil : level()
        row.write = random.one(in: 2) ? nil : level()
        model.attributes.append(row)
        next += 1
        return GATTDescriptor(uuid, permissions: permissions(row), value: value, length: .variable(max: 40))
    }

    private mutating func add(_ type: BluetoothUUID, _ kind: ModelAttribute.Kind, _ value: [UInt8]) {
        model.attributes.append(
            ModelAttribute(handle: next, type: full(type), kind: kind, value: value, groupEnd: next))
        next += 1
    }

    /// Returns a random security level, 0 (open) in most cases.
    private mutating func level() -> Int { random.one(in: 3) ? random.number(1...3) : 0 }

    private func permissions(_ row: ModelAttribute) -> AttributePermissions {
        AttributePermissions(
            read: row.read.map { SecurityLevel.allCases[$0] },
            write: row.write.map { SecurityLevel.allCases[$0] },
            authorize: row.wantsAuthorization, minimumKeySize: row.keySize)
    }

    private func full(_ uuid: BluetoothUUID) -> [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: uuid.value >> UInt128(8 * $0)) }
    }

    /// Returns the octets of a UUID in a declaration.
    private func octets(of uuid: BluetoothUUID) -> [UInt8] {
        uuid.uint16 == nil ? full(uuid) : Array(full(uuid)[12..<14])
    }
}
