import BLECore

/// Random PDUs to a database, most of which address existing attributes.
struct RandomRequests {
    let model: ReferenceModel
    var random: SplitMix64
    /// The handle of the last prepared part, and the offset of its end.
    private var last: (handle: [UInt8], end: Int)?

    init(to model: ReferenceModel, _ random: SplitMix64) {
        self.model = model
        self.random = random
    }

    mutating func pdu(mtu: Int) -> [UInt8] {
        var pdu = wellFormed(mtu)
        if random.one(in: 40) { pdu.removeLast() }
        if random.one(in: 40) { pdu += random.bytes(upTo: 3) }
        if random.one(in: 60) { pdu[0] = UInt8(random.number(0...255)) }
        return pdu
    }

    /// Returns random octets after an opcode that is often valid.
    mutating func wildPDU() -> [UInt8] {
        let opcode = random.one(in: 3) ? UInt8(random.number(0...255)) : UInt8(random.number(1...0x12) * 2)
        return [opcode] + (random.one(in: 2) ? handle() : []) + random.bytes(upTo: 8)
    }

    private mutating func wellFormed(_ mtu: Int) -> [UInt8] {
        switch random.number(0...14) {
        case 0: return [0x04] + range()
        case 1, 2:
            let row = row()
            let value = random.one(in: 4) ? random.bytes(upTo: 4) : row.value
            return [0x06] + range() + row.type[12..<14] + value.prefix(mtu - 7)
        case 3: return [0x08] + range() + type(row().type)
        case 4: return [0x08] + range() + type(random.element([0x00, 0x02, 0x03]))
        case 5: return [0x0a] + handle()
        case 6: return [0x0c] + handle() + model.octets(random.one(in: 3) ? 0 : random.number(0...520))
        case 7: return [0x0e] + handles(mtu)
        case 8: return [0x20] + handles(mtu)
        case 9: return [0x10] + range() + type(random.element([0x00, 0x00, 0x01, 0x01, 0x02, 0x03]))
        case 10, 11:
            let opcode: UInt8 = random.one(in: 3) ? 0x52 : 0x12
            return [opcode] + handle() + random.bytes(upTo: random.element([2, 5, mtu - 3]))
        case 12, 13: return part(mtu)
        default: return [0x18, random.one(in: 4) ? 0 : 1]
        }
    }

    /// Returns a Prepare Write Request, often with the next part of the same value.
    private mutating func part(_ mtu: Int) -> [UInt8] {
        let value = random.bytes(upTo: random.element([2, mtu - 5]))
        var (handle, offset) = (handle(), random.one(in: 2) ? 0 : random.number(0...6))
        if random.one(in: 2), let last { (handle, offset) = last }
        last = (handle, offset + value.count)
        return [0x16] + handle + model.octets(offset) + value
    }

    private mutating func row() -> ModelAttribute {
        let none = ModelAttribute(
            handle: 1, type: [UInt8](repeating: 0, count: 16), kind: .declaration, value: [], groupEnd: 1)
        return model.attributes.isEmpty ? none : random.element(model.attributes)
    }

    /// Returns a handle, in most cases that of an attribute.
    private mutating func handle() -> [UInt8] {
        let last = model.attributes.last?.handle ?? 0
        return model.octets(random.one(in: 12) ? random.number(0...min(0xffff, last + 2)) : row().handle)
    }

    private mutating func handles(_ mtu: Int) -> [UInt8] {
        (0..<random.number(2...min(6, (mtu - 1) / 2))).flatMap { _ in handle() }
    }

    private mutating func range() -> [UInt8] { handle() + (random.one(in: 2) ? [0xff, 0xff] : handle()) }

    /// Returns a UUID in its shortest form, or sometimes in the long form.
    private mutating func type(_ uuid: [UInt8]) -> [UInt8] {
        let short = uuid[12..<14]
        return model.uuid(short) == uuid && !random.one(in: 4) ? Array(short) : uuid
    }

    /// Returns the UUID 0x28nn of a declaration.
    private mutating func type(_ low: UInt8) -> [UInt8] { type(model.uuid([low, 0x28])) }
}
