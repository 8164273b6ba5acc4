/// Writes (3.4.5 and 3.4.6).
extension ReferenceModel {
    /// Performs a Write Command. Errors are not reported.
    mutating func perform(_ pdu: [UInt8], on link: inout ModelLink) {
        guard pdu[0] == 0x52, pdu.count >= 3 else { return }
        try? write(word(pdu, 1), Array(pdu[3...]), isCommand: true, &link)
    }

    mutating func write(
        _ handle: Int, _ new: [UInt8], isCommand: Bool, _ link: inout ModelLink
    ) throws(Refusal) {
        let attribute = try writable(handle, isCommand: isCommand, link)
        guard new.count <= attribute.maximum else { throw Refusal(handle: handle, code: 0x0d) }
        // A value of fixed length keeps the octets after the new value.
        let whole = attribute.isFixed ? new + attribute.value.dropFirst(new.count) : new
        try store(whole, attribute, &link)
    }

    /// Returns the attribute if the link may write it in this way, else throws the error.
    func writable(_ handle: Int, isCommand: Bool, _ link: ModelLink) throws(Refusal) -> ModelAttribute {
        let attribute = try attribute(handle)
        try permit(attribute, isWrite: true, link)
        if case .value(let requests, let commands) = attribute.kind, !(isCommand ? commands : requests) {
            throw Refusal(handle: handle, code: 0x03)
        }
        return attribute
    }

    /// Writes or discards the queue. If one write fails, no value changes.
    mutating func execute(_ isWrite: Bool, _ link: inout ModelLink) -> [[UInt8]] {
        let queue = link.queue
        link.queue = []
        guard isWrite else { return [[0x19]] }
        let before = (self, link)
        var refusals: [[UInt8]] = []
        for handle in Set(queue.map(\.handle)) {
            do throws(Refusal) {
                let parts = queue.filter { $0.handle == handle }
                let attribute = try writable(handle, isCommand: false, link)
                try store(try joined(parts, onto: attribute), attribute, &link)
            } catch {
                refusals.append(self.error(0x18, error.handle, error.code))
            }
        }
        guard refusals.isEmpty else {
            (self, link) = before
            return refusals
        }
        return [[0x19]]
    }

    /// Returns the value that consists of the parts in their order. If the first part begins at 0 and the length
    /// is variable, the parts are a new value, so that a long write can shorten it. Otherwise they change the
    /// existing value.
    private func joined(
        _ parts: [(handle: Int, offset: Int, value: [UInt8])], onto attribute: ModelAttribute
    ) throws(Refusal) -> [UInt8] {
        var value = attribute.value
        if case .configuration = attribute.kind { value = [] }
        if !attribute.isFixed, parts[0].offset == 0 { value = [] }
        for part in parts {
            guard part.offset <= value.count else { throw Refusal(handle: part.handle, code: 0x07) }
            guard part.offset + part.value.count <= attribute.maximum else {
                throw Refusal(handle: part.handle, code: 0x0d)
            }
            value = value.prefix(part.offset) + part.value + value.dropFirst(part.offset + part.value.count)
        }
        return value
    }

    private mutating func store(
        _ value: [UInt8], _ attribute: ModelAttribute, _ link: inout ModelLink
    ) throws(Refusal) {
        guard case .configuration(let allowed) = attribute.kind else {
            for index in attributes.indices where attributes[index].handle == attribute.handle {
                attributes[index].value = value
            }
            return
        }
        guard value.count == 2 else { throw Refusal(handle: attribute.handle, code: 0x0d) }
        // Two bits are defined, the others are ignored.
        guard value[0] & 3 & ~allowed == 0 else { throw Refusal(handle: attribute.handle, code: 0xfd) }
        link.configurations[attribute.handle] = [value[0] & 3, 0]
    }
}
