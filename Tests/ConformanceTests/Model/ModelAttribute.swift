/// One row of the model's database. UUIDs are the 16 octets that stand for them on the air.
struct ModelAttribute {
    enum Kind: Equatable {
        case declaration
        /// A value, and whether requests and commands may write it.
        case value(requests: Bool, commands: Bool)
        /// A CCCD, and the bits that its characteristic allows.
        case configuration(allowed: UInt8)
        case descriptor
    }

    let handle: Int
    let type: [UInt8]
    let kind: Kind
    var value: [UInt8]
    /// The last handle of the group that the attribute begins, else its own handle.
    var groupEnd: Int
    /// The security levels that reads and writes require, 0 to 3. Nil if no link may.
    var read: Int? = 0
    var write: Int?
    var wantsAuthorization = false
    var keySize = 7
    /// The maximum number of octets of the value.
    var maximum = 512
    /// Whether the value always has the maximum length.
    var isFixed = false
}

/// The state of a link in the model.
struct ModelLink {
    var mtu = 23
    /// The security level: 0 is not encrypted, 3 is Secure Connections.
    var level = 0
    var keySize = 0
    var isBonded = false
    /// CCCDs that are set, by handle.
    var configurations: [Int: [UInt8]] = [:]
    var queue: [(handle: Int, offset: Int, value: [UInt8])] = []
}
