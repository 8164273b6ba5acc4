import BLECore

/// Assigns handles to attributes in the order of the file: the handle that the file requests, otherwise the
/// next free one. Handles only increase, so the database has the order of the file.
struct HandleLayout {
    /// The last handle that was assigned.
    private var last = 0
    /// The first handle, if the file does not request one.
    private let start: Int
    private var owners: [Int: String] = [:]
    /// The handles up to which services reach, beyond their attributes.
    private var reserved: (after: Int, end: AttributeHandle, owner: String)?

    /// Creates a layout that begins at `start`. The file can request lower handles.
    init(start: Int) { self.start = start }

    /// The next free handle; 0x10000 when none is left.
    private var next: Int { last == 0 ? start : last + 1 }

    /// Returns the handle for an attribute at `position`: the one that `node` requests, otherwise the next
    /// one.
    mutating func take(
        _ node: YAMLNode? = nil, for owner: String, at position: SourcePosition
    ) throws(ConfigurationError) -> AttributeHandle {
        let wanted: UInt16? = try node?.integer("a handle", in: 1...0xffff)
        let place = node?.position ?? position
        let handle = wanted.map(Int.init) ?? next
        guard let number = UInt16(exactly: handle) else {
            let last = reserved.map { "\($0.owner) ends at \($0.end)" } ?? "the last is 0xffff"
            throw ConfigurationError(
                place, "no handle is left for \(owner): \(last)",
                hint: reserved.map { _ in "strict: false lets services overlap, as some devices do" })
        }
        guard handle > last else {
            let why =
                owners[handle].map { "is taken by \($0)" }
                ?? reserved.flatMap {
                    handle > $0.after && handle <= Int($0.end.rawValue)
                        ? "lies in \($0.owner), which ends at \($0.end)" : nil
                }
                ?? "is out of order: handles must increase through the file"
            throw ConfigurationError(
                place, "the handle 0x\(number.hex) for \(owner) \(why)",
                hint: UInt16(exactly: next).map { "the next free handle is 0x\($0.hex)" })
        }
        owners[handle] = owner
        last = handle
        return AttributeHandle(number)
    }

    /// Reserves the handles up to `end` for a service: no other one gets them.
    mutating func reserve(upTo end: AttributeHandle, for owner: String) {
        guard Int(end.rawValue) > last else { return }
        reserved = (last, end, owner)
        last = Int(end.rawValue)
    }

    /// Returns the number of handles between the last assigned one and `handle`.
    func room(before handle: AttributeHandle) -> Int { Int(handle.rawValue) - last - 1 }
}
