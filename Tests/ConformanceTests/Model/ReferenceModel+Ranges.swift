/// The requests over a range of handles (3.4.3, 3.4.4.1 and 3.4.4.9).
extension ReferenceModel {
    func findInformation(_ start: Int, _ end: Int, _ mtu: Int) throws(Refusal) -> [UInt8] {
        let entries = try inside(start, end).map { octets($0.handle) + short($0.type) }
        let list = try same(entries, room: mtu - 2, start)
        return [0x05, list.entry == 4 ? 1 : 2] + list.octets
    }

    func findByTypeValue(_ pdu: [UInt8], _ link: ModelLink) throws(Refusal) -> [UInt8] {
        let start = word(pdu, 1)
        let type = uuid(pdu[5..<7])
        let matches = try inside(start, word(pdu, 3)).filter { attribute in
            attribute.type == type && (try? value(attribute.handle, link)) == Array(pdu[7...])
        }
        let list = try same(
            matches.map { octets($0.handle) + octets($0.groupEnd) }, room: link.mtu - 1, start)
        return [0x07] + list.octets
    }

    func readByType(_ start: Int, _ end: Int, _ type: [UInt8], _ link: ModelLink) throws(Refusal) -> [UInt8] {
        var entries: [[UInt8]] = []
        for attribute in try inside(start, end) where attribute.type == type {
            do throws(Refusal) {
                let value = try value(attribute.handle, link)
                entries.append(octets(attribute.handle) + value.prefix(min(link.mtu - 4, 253)))
            } catch {
                if entries.isEmpty { throw error }
                break
            }
        }
        let list = try same(entries, room: link.mtu - 2, start)
        return [0x09, UInt8(list.entry)] + list.octets
    }

    func readByGroupType(_ start: Int, _ end: Int, _ type: [UInt8], _ mtu: Int) throws(Refusal) -> [UInt8] {
        let all = try inside(start, end)
        guard type == uuid([0x00, 0x28]) || type == uuid([0x01, 0x28]) else {
            throw Refusal(handle: start, code: 0x10)
        }
        let entries = all.filter { $0.type == type }.map {
            octets($0.handle) + octets($0.groupEnd) + $0.value.prefix(min(mtu - 6, 251))
        }
        let list = try same(entries, room: mtu - 2, start)
        return [0x11, UInt8(list.entry)] + list.octets
    }

    /// Returns the attributes of a range, or throws Invalid Handle if the range is invalid.
    private func inside(_ start: Int, _ end: Int) throws(Refusal) -> [ModelAttribute] {
        guard start > 0, start <= end else { throw Refusal(handle: start, code: 0x01) }
        return attributes.filter { $0.handle >= start && $0.handle <= end }
    }

    /// Returns the first entries of equal length that fit into `room`, or throws Attribute Not Found.
    private func same(
        _ entries: [[UInt8]], room: Int, _ start: Int
    ) throws(Refusal) -> (entry: Int, octets: [UInt8]) {
        guard let first = entries.first else { throw Refusal(handle: start, code: 0x0a) }
        let alike = entries.prefix { $0.count == first.count }.prefix(room / first.count)
        return (first.count, Array(alike.joined()))
    }

    /// Returns a UUID in its shortest form.
    private func short(_ type: [UInt8]) -> [UInt8] {
        let two = type[12..<14]
        return uuid(two) == type ? Array(two) : type
    }
}

extension ReferenceModel {
    fileprivate func uuid(_ octets: [UInt8]) -> [UInt8] { uuid(octets[...]) }
}
