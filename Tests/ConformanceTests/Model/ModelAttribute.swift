/// One row of the model's database. UUIDs are the 16 octets that stand for them on the air.
struct ModelAttribute {
    enum Kind: Equatable {
        case declaration
        /// A value; whether requests and whether commands may write it.
        case value(requests: Bool, commands: Bool)
        /// A CCCD and the bits that its characteristic has.
        case configuration(allowed: UInt8)
        case descriptor
    }

    let handle: Int
    let type: [UInt8]
    let kind: Kind
    var value: [UInt8]
    /// The last handle of the group that it begins; else its own.
    var groupEnd: Int
    /// The security that a link needs to read and to write it, 0 to 3; nil: no link may.
    var read: Int? = 0
    var write: Int?
    var wantsAuthorization = false
    var keySize = 7
    /// The most octets of the value.
    var maximum = 512
    /// Whether it has always that many.
    var isFixed = false
}

/// What the model knows of a link.
struct ModelLink {
    var mtu = 23
    /// 0 is not encrypted, 3 is Secure Connections.
    var level = 0
    var keySize = 0
    var isBonded = false
    /// CCCDs that are set, by handle.
    var configurations: [Int: [UInt8]] = [:]
    var queue: [(handle: Int, offset: Int, value: [UInt8])] = []
}
