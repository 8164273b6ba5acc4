/// A server in its simplest form: a list of rows and the rules of Core Specification 5.4, Vol 3, Part F, 3.4.
/// It receives and returns octets, and shares no code with our server.
struct ReferenceModel {
    /// A refusal: the attribute and the code.
    struct Refusal: Error {
        let handle: Int
        let code: UInt8
    }

    /// The maximum number of prepared writes in the queue of a link.
    static let queueLimit = 3
    static let serverMTU = 517

    /// Returns whether the application authorizes an access.
    static func authorizes(_ handle: Int) -> Bool { handle.isMultiple(of: 2) }

    var attributes: [ModelAttribute] = []

    /// Returns the permitted answers to a PDU, of which the server sends one, or an empty array if the server
    /// sends no answer. If more than one error applies, the specification leaves open which one is returned (3.4.1.1).
    mutating func answers(to pdu: [UInt8], on link: inout ModelLink) -> [[UInt8]] {
        guard let opcode = pdu.first else { return [] }
        if opcode & 0x40 != 0 {
            perform(pdu, on: &link)
            return []
        }
        // An indication is confirmed, even if it is malformed or ignored (3.4.7.2).
        if opcode == 0x1d { return [[0x1e]] }
        let requests: [UInt8] = [0x02, 0x04, 0x06, 0x08, 0x0a, 0x0c, 0x0e, 0x10, 0x12, 0x16, 0x18, 0x20]
        let notifications: [UInt8] = [0x1b, 0x1e, 0x23]
        if notifications.contains(opcode) || requests.contains(opcode &- 1) || opcode == 0x01 { return [] }
        guard requests.contains(opcode) else { return [error(opcode, 0, 0x06)] }
        guard isWellFormed(pdu), pdu.count <= link.mtu else { return [error(opcode, 0, 0x04)] }
        do throws(Refusal) {
            if opcode == 0x18 { return execute(pdu[1] == 1, &link) }
            return [try answer(pdu, &link)]
        } catch {
            return [self.error(opcode, error.handle, error.code)]
        }
    }

    private func isWellFormed(_ pdu: [UInt8]) -> Bool {
        switch pdu[0] {
        case 0x02, 0x0a: pdu.count == 3
        case 0x04, 0x0c: pdu.count == 5
        case 0x06: pdu.count >= 7
        case 0x08, 0x10: pdu.count == 7 || pdu.count == 21
        case 0x0e, 0x20: pdu.count >= 5 && pdu.count % 2 == 1
        case 0x12: pdu.count >= 3
        case 0x16: pdu.count >= 5
        default: pdu.count == 2 && pdu[1] <= 1
        }
    }

    private mutating func answer(_ pdu: [UInt8], _ link: inout ModelLink) throws(Refusal) -> [UInt8] {
        let first = word(pdu, 1)
        switch pdu[0] {
        case 0x02:
            link.mtu = max(23, min(first, Self.serverMTU))
            return [0x03] + octets(Self.serverMTU)
        case 0x04: return try findInformation(first, word(pdu, 3), link.mtu)
        case 0x06: return try findByTypeValue(pdu, link)
        case 0x08: return try readByType(first, word(pdu, 3), uuid(pdu[5...]), link)
        case 0x0a: return [0x0b] + (try value(first, link)).prefix(link.mtu - 1)
        case 0x0c:
            let whole = try value(first, link)
            guard word(pdu, 3) <= whole.count else { throw Refusal(handle: first, code: 0x07) }
            return [0x0d] + whole.dropFirst(word(pdu, 3)).prefix(link.mtu - 1)
        case 0x0e:
            var all: [UInt8] = []
            for at in stride(from: 1, to: pdu.count, by: 2) { all += try value(word(pdu, at), link) }
            return [0x0f] + all.prefix(link.mtu - 1)
        case 0x10: return try readByGroupType(first, word(pdu, 3), uuid(pdu[5...]), link.mtu)
        case 0x12:
            try write(first, Array(pdu[3...]), isCommand: false, &link)
            return [0x13]
        case 0x16:
            _ = try writable(first, isCommand: false, link)
            guard link.queue.count < Self.queueLimit else { throw Refusal(handle: first, code: 0x09) }
            link.queue.append((first, word(pdu, 3), Array(pdu[5...])))
            return [0x17] + pdu[1...]
        default: return try readMultipleVariable(pdu, link)
        }
    }

    /// Returns the tuples, cut at MTU - 1 octets, but not within the length of a tuple.
    private func readMultipleVariable(_ pdu: [UInt8], _ link: ModelLink) throws(Refusal) -> [UInt8] {
        var tuples: [[UInt8]] = []
        for at in stride(from: 1, to: pdu.count, by: 2) {
            let whole = try value(word(pdu, at), link)
            tuples.append(octets(whole.count) + whole)
        }
        var list: [UInt8] = []
        for tuple in tuples where list.count + 2 <= link.mtu - 1 {
            list += tuple.prefix(link.mtu - 1 - list.count)
        }
        return [0x21] + list
    }

    /// Returns the attribute, or throws Invalid Handle.
    func attribute(_ handle: Int) throws(Refusal) -> ModelAttribute {
        guard let found = attributes.first(where: { $0.handle == handle }) else {
            throw Refusal(handle: handle, code: 0x01)
        }
        return found
    }

    /// Throws an error if a link may not read or write the attribute (3.2.5; Part C, 10.3.1).
    func permit(_ attribute: ModelAttribute, isWrite: Bool, _ link: ModelLink) throws(Refusal) {
        func refuse(_ code: UInt8) -> Refusal { Refusal(handle: attribute.handle, code: code) }
        guard let wanted = isWrite ? attribute.write : attribute.read else {
            throw refuse(isWrite ? 0x03 : 0x02)
        }
        if wanted > 0 {
            if link.level == 0 { throw refuse(link.isBonded ? 0x0f : 0x05) }
            if link.level < wanted { throw refuse(0x05) }
            // Level 4 requires a key of 128 bits (Part C, 10.2.1).
            if link.keySize < (wanted == 3 ? 16 : attribute.keySize) { throw refuse(0x0c) }
        }
        if attribute.wantsAuthorization, !Self.authorizes(attribute.handle) { throw refuse(0x08) }
    }

    /// Returns the whole value if the link may read it, else throws the error.
    func value(_ handle: Int, _ link: ModelLink) throws(Refusal) -> [UInt8] {
        let attribute = try attribute(handle)
        try permit(attribute, isWrite: false, link)
        if case .configuration = attribute.kind { return link.configurations[handle] ?? [0, 0] }
        return attribute.value
    }

    func error(_ opcode: UInt8, _ handle: Int, _ code: UInt8) -> [UInt8] {
        [0x01, opcode] + octets(handle) + [code]
    }

    func octets(_ word: Int) -> [UInt8] { [UInt8(word & 0xff), UInt8(word >> 8 & 0xff)] }

    func word(_ pdu: [UInt8], _ at: Int) -> Int { Int(pdu[at]) | Int(pdu[at + 1]) << 8 }

    /// Returns a UUID of 2 or 16 octets as 16 octets.
    func uuid(_ octets: ArraySlice<UInt8>) -> [UInt8] {
        let base: [UInt8] = [0xfb, 0x34, 0x9b, 0x5f, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0]
        return octets.count == 2 ? base + octets + [0, 0] : Array(octets)
    }
}
