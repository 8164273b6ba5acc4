import ATT
import BLECore
import GATTServer

/// A random database, described to the server and to the model at the same time.
struct RandomDatabase {
    private(set) var services: [GATTService] = []
    private(set) var model = ReferenceModel()
    private var next = 1

    static let uuids: [BluetoothUUID] = [0x180f, 0x2a19, 0xff01, nordic, BluetoothUUID(nordic.value + 1)]

    init(_ random: inout SplitMix64) {
        for _ in 0..<Int.random(in: 0...8, using: &random) { addService(&random) }
    }

    private mutating func addService(_ random: inout SplitMix64) {
        next += Bool.random(using: &random) ? 0 : Int.random(in: 0...5, using: &random)
        let start = next
        let uuid = Self.uuids.randomElement(using: &random) ?? 0
        let isPrimary = Int.random(in: 0..<4, using: &random) > 0
        let row = model.rows.count
        add(isPrimary ? 0x2800 : 0x2801, octets(of: uuid))
        var service = GATTService(uuid, isPrimary: isPrimary, handle: AttributeHandle(UInt16(start)))
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            service.characteristics.append(addCharacteristic(&random))
        }
        model.rows[row].groupEnd = next - 1
        services.append(service)
    }

    private mutating func addCharacteristic(_ random: inout SplitMix64) -> GATTCharacteristic {
        let uuid = Self.uuids.randomElement(using: &random) ?? 0
        let isReadable = Int.random(in: 0..<4, using: &random) > 0
        let isNotifying = Bool.random(using: &random)
        let value = Bool.random(using: &random) ? random.bytes(upTo: 2) : random.bytes(upTo: 300)
        let properties: UInt8 = (isReadable ? 0x02 : 0x08) | (isNotifying ? 0x10 : 0)
        let row = model.rows.count
        add(0x2803, [properties, UInt8((next + 1) & 0xff), UInt8((next + 1) >> 8)] + octets(of: uuid))
        add(uuid, value, isReadable: isReadable)
        var descriptors: [GATTDescriptor] = []
        if Bool.random(using: &random) {
            let text = random.bytes(upTo: 5)
            descriptors.append(GATTDescriptor(0x2901, value: text))
            add(0x2901, text)
        }
        if isNotifying { add(0x2902, [0, 0]) }
        model.rows[row].groupEnd = next - 1
        return GATTCharacteristic(
            uuid, properties: CharacteristicProperties(rawValue: properties), value: value,
            descriptors: descriptors)
    }

    private mutating func add(_ type: BluetoothUUID, _ value: [UInt8], isReadable: Bool = true) {
        model.rows.append(
            .init(handle: next, type: type, value: value, isReadable: isReadable, groupEnd: next))
        next += 1
    }

    /// A request that reads, within `mtu`: mostly one that finds something.
    func request(_ random: inout SplitMix64, mtu: Int) -> ATTRequest {
        let range = AttributeRange(handle(&random), Bool.random(using: &random) ? 0xffff : handle(&random))
        let row = model.rows.randomElement(using: &random)
        let type = row?.type ?? 0x2800
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .findInformation(range)
        case 1:
            let value = Bool.random(using: &random) ? row?.value ?? [] : random.bytes(upTo: 2)
            return .findByTypeValue(range, type: type.uint16 ?? 0x2800, value: Array(value.prefix(mtu - 7)))
        case 2: return .readByType(range, type: AttributeType(type, isLong: Bool.random(using: &random)))
        case 3:
            let groups: [BluetoothUUID] = [.primaryService, .secondaryService, .characteristic, nordic]
            return .readByGroupType(range, type: AttributeType(groups.randomElement(using: &random) ?? type))
        case 4: return .read(handle(&random))
        case 5: return .readBlob(handle(&random), offset: UInt16.random(in: 0...310, using: &random))
        case 6: return .readMultiple([handle(&random), handle(&random), handle(&random)])
        default: return .readMultipleVariable([handle(&random), handle(&random)])
        }
    }

    private func handle(_ random: inout SplitMix64) -> AttributeHandle {
        AttributeHandle(UInt16.random(in: 0...UInt16(next + 2), using: &random))
    }
}
