import Glibc
import SystemPackage

extension Errno {
    /// What the last failed call of this thread left in errno.
    package static var current: Errno { Errno(rawValue: Glibc.errno) }
}
