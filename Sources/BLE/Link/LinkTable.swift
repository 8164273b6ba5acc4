import HCI

/// The links of an adapter, in the order in which they were made, and the connection handles by which the controller
/// names them.
struct LinkTable: RandomAccessCollection {
    private var links = LinkMap<Link>()
    /// A handle names one link: on kernel adapters a new link can get the handle of one whose channel is not closed yet.
    private var linksByHandle: [ConnectionHandle: Link] = [:]
    private var lastNumber: UInt64 = 0
    /// What became of the links when packets of their controller were lost.
    var review = LossReview()

    var startIndex: Int { 0 }
    var endIndex: Int { links.values.count }

    subscript(position: Int) -> Link { links.values[position] }

    subscript(id: LinkID) -> Link? { links[id] }

    /// Returns the link that has the handle now.
    subscript(handle: ConnectionHandle) -> Link? { linksByHandle[handle] }

    /// Returns the identifier for the next link.
    mutating func nextID() -> LinkID {
        lastNumber += 1
        return LinkID(number: lastNumber)
    }

    /// Adds the link with the identifier that was returned last, and its handle, if that is known.
    mutating func insert(_ link: Link) {
        links.append(link, of: link.id)
        review.add(link.id)
        if let handle = link.handle { assign(handle, to: link) }
    }

    /// Gives a link its handle, which another link may have had until now.
    mutating func assign(_ handle: ConnectionHandle, to link: Link) {
        if let other = linksByHandle[handle], other !== link { other.handle = nil }
        link.handle = handle
        linksByHandle[handle] = link
    }

    /// Takes the handle from its link, because it names another connection now. Returns the link.
    @discardableResult
    mutating func detach(_ handle: ConnectionHandle) -> Link? {
        let link = linksByHandle.removeValue(forKey: handle)
        link?.handle = nil
        return link
    }

    /// A link that has been removed.
    struct Removal {
        /// The handle, if no other link has got it.
        let handle: ConnectionHandle?
    }

    /// Removes a link; nil when it is not in the table.
    mutating func remove(_ link: Link) -> Removal? {
        guard links.remove(link.id) != nil else { return nil }
        review.remove(link.id)
        guard let handle = link.handle, linksByHandle[handle] === link else { return Removal(handle: nil) }
        linksByHandle[handle] = nil
        return Removal(handle: handle)
    }
}
