import ATT
import BLECore
import GATTServer

/// The state that a peripheral manager restores at its next start.
struct ServingState: StateText, Equatable {
    /// The services that were published, in the order of their handles, which do not overlap.
    private(set) var services: [ServiceRecord] = []
    /// The values that have replaced the initial ones of the services.
    private(set) var values: [AttributeHandle: [UInt8]] = [:]
    /// The greatest handle that an attribute ever had.
    private(set) var highest = AttributeHandle.none
    /// The advertisements, with a number each.
    var advertising: [UInt64: RestoredAdvertising] = [:]
    private var last: UInt64 = 0

    /// Returns the number of the next advertisement.
    mutating func number() -> UInt64 {
        last += 1
        return last
    }

    /// Takes over the services of the database. Services of an earlier process that were not published yet
    /// stay, except those whose handles other services now use, and those that a new service replaces. Each
    /// new service replaces the first remaining one of its type, so that of several services with one type
    /// the others can still be published again.
    mutating func published(_ records: [ServiceRecord], replacing isReplaced: Bool = true) {
        let known = Set(services.map(\.handle))
        services.removeAll { old in
            records.contains { $0.handle <= old.endHandle && old.handle <= $0.endHandle }
        }
        if isReplaced {
            for record in records where !known.contains(record.handle) {
                if let old = services.firstIndex(where: { $0.uuid == record.uuid }) {
                    services.remove(at: old)
                }
            }
        }
        services = (services + records).sorted { $0.handle < $1.handle }
        highest = max(highest, services.last?.endHandle ?? .none)
        forgetValues()
    }

    /// Removes a service, and values that no attribute has any more.
    mutating func removed(_ handle: AttributeHandle) {
        services.removeAll { $0.handle == handle }
        forgetValues()
    }

    /// Adds these values, or replaces those of the same handles.
    mutating func keep(_ new: [AttributeHandle: [UInt8]]) { values.merge(new) { $1 } }

    private mutating func forgetValues() {
        let known = Set(services.flatMap { $0.entries.map(\.handle) })
        values = values.filter { known.contains($0.key) }
    }

    // MARK: Text

    static let kind = "handles"

    var text: [UInt8] {
        var text: [UInt8] = []
        for service in services { text += service.text(values) }
        for (_, each) in advertising.sorted(by: { $0.key < $1.key }) { text += each.text }
        guard highest > .none else { return text }
        var writer = TextWriter(Self.kind)
        writer.line("highest", "\(highest)")
        return text + writer.octets
    }

    mutating func read(_ section: TextSection) throws(TextError) {
        switch section.kind {
        case Substring(ServiceRecord.kind):
            let (record, values) = try ServiceRecord.read(section)
            published([record], replacing: false)
            keep(values)
        case Substring(RestoredAdvertising.kind): advertising[number()] = try RestoredAdvertising(section)
        case Substring(Self.kind):
            for line in section.lines {
                guard line.key == "highest" else { throw line.isUnknown }
                highest = max(highest, try line.value(TextValue.handle))
            }
        default: throw TextError(section.number, .kind(String(section.kind), expected: nil))
        }
    }
}
