/// Bonds that have come and gone together: by this process, or by another that shares the folder. What has become
/// of them since, `BondStore.record` returns.
public struct BondChange: Hashable, Sendable {
    /// Bonds that are new, or have other keys than before.
    public var added: [BondID]
    /// The bonds that have been removed.
    public var removed: [BondID]

    package init(added: [BondID] = [], removed: [BondID] = []) {
        self.added = added
        self.removed = removed
    }

    var isNothing: Bool { added.isEmpty && removed.isEmpty }
}
