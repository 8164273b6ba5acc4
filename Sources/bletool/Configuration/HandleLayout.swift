import BLECore

/// Gives attributes their handles, in the order of the file: those that it asks for, else the next free
/// one. Handles only rise, so a database is what its file shows from top to bottom.
struct HandleLayout {
    /// The next free handle; 0x10000 when none is left.
    private var next = 1
    private var owners: [Int: String] = [:]

    /// The handle for an attribute at `position`: the one that `node` asks for, or the next.
    mutating func take(
        _ node: YAMLNode? = nil, for owner: String, at position: SourcePosition
    ) throws(ConfigurationError) -> AttributeHandle {
        let wanted: UInt16? = try node?.integer("a handle", in: 1...0xffff)
        let place = node?.position ?? position
        let handle = wanted.map(Int.init) ?? next
        guard let number = UInt16(exactly: handle) else {
            throw ConfigurationError(place, "no handle is left for \(owner): the last is 0xffff")
        }
        guard handle >= next else {
            let why =
                owners[handle].map { "is taken by \($0)" } ?? "comes too late: handles rise through the file"
            throw ConfigurationError(place, "the handle 0x\(number.hex) for \(owner) \(why)", hint: free)
        }
        owners[handle] = owner
        next = handle + 1
        return AttributeHandle(number)
    }

    /// Keeps the first handles for attributes that the file does not show.
    mutating func reserve(_ count: Int, for owner: String) {
        for handle in next..<(next + count) { owners[handle] = owner }
        next += count
    }

    /// How many handles lie before `handle` from here on.
    func room(before handle: AttributeHandle) -> Int { Int(handle.rawValue) - next }

    private var free: String? {
        UInt16(exactly: next).map { "the next free handle is 0x\($0.hex)" }
    }
}
