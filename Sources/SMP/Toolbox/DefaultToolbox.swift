extension SecurityManager {
    /// The toolbox over swift-crypto; nil in a build without the package's trait `SecurityManager`, which
    /// does not pair.
    package static var defaultToolbox: (any SecurityToolbox)? {
        #if SecurityManager
        SwiftCryptoToolbox()
        #else
        nil
        #endif
    }
}
