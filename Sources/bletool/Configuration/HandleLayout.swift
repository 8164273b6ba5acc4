import BLECore

/// Gives attributes their handles, in the order of the file: those that it asks for, else the next free
/// one. Handles only rise, so a database is what its file shows from top to bottom.
struct HandleLayout {
    /// The last handle that was given out.
    private var last = 0
    /// Where handles begin when the file does not say.
    private let start: Int
    private var owners: [Int: String] = [:]

    /// A layout that begins at `start`. The file may ask for lower handles.
    init(start: Int) { self.start = start }

    /// The next free handle; 0x10000 when none is left.
    private var next: Int { last == 0 ? start : last + 1 }

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
        guard handle > last else {
            let why =
                owners[handle].map { "is taken by \($0)" }
                ?? "is out of order: handles must increase through the file"
            throw ConfigurationError(
                place, "the handle 0x\(number.hex) for \(owner) \(why)",
                hint: UInt16(exactly: next).map { "the next free handle is 0x\($0.hex)" })
        }
        owners[handle] = owner
        last = handle
        return AttributeHandle(number)
    }

    /// How many handles lie between the last one given out and `handle`.
    func room(before handle: AttributeHandle) -> Int { Int(handle.rawValue) - last - 1 }
}
