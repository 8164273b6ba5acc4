import Glibc

/// The number of descriptors that this process may have (RLIMIT_NOFILE).
package enum DescriptorLimit {
    /// The limit; that of CInt if there is none.
    package static var current: CInt {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        return CInt(clamping: limit.rlim_cur)
    }

    /// Returns whether at least `count` descriptors are free. This opens none, so it does not need one.
    package static func leaves(_ count: Int) -> Bool {
        var free = 0
        for descriptor in 0..<current where fcntl(descriptor, F_GETFD) < 0 {
            free += 1
            if free >= count { return true }
        }
        return false
    }
}
