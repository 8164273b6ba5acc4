import ATT
import BLECore

/// Finds the descriptors of a characteristic (Core Specification 5.4, Vol 3, Part G, 4.7).
package struct DiscoverDescriptors: WalkingProcedure {
    /// The descriptors in ascending order of handles.
    package typealias Output = [RemoteDescriptor]

    var walk: AttributeWalk
    private(set) var result: [RemoteDescriptor] = []

    /// Looks for those in `range`, a characteristic's `descriptorRange`; asks nothing when it has none.
    package init(in range: AttributeRange?) { walk = AttributeWalk(.types, in: range) }

    mutating func add(_ entry: AttributeWalk.Entry) throws(GATTClientError) {
        guard let type = entry.type else { return }
        result.append(RemoteDescriptor(uuid: type, handle: entry.handle))
    }
}
