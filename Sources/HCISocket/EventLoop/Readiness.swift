import CLinux
import Glibc
import SystemPackage

/// What a descriptor is ready for.
public struct Readiness: OptionSet, Sendable {
    /// The event bits of epoll(7).
    public let rawValue: UInt32

    /// Creates a set from the event bits of epoll(7).
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ bits: UInt32) { rawValue = bits }

    /// Something can be read, or the end was reached.
    public static let read = Readiness(CLINUX_EPOLLIN)
    /// Something can be written without waiting.
    public static let write = Readiness(CLINUX_EPOLLOUT)
    /// The descriptor has a pending error.
    public static let error = Readiness(CLINUX_EPOLLERR)
    /// The other side has closed the connection (EPOLLHUP).
    public static let hangUp = Readiness(CLINUX_EPOLLHUP)
    /// An option of a watch: each change is reported once, not for as long as it lasts.
    static let edge = Readiness(CLINUX_EPOLLET)
}

extension Errno {
    /// What the last failed call of this thread left in errno.
    package static var current: Errno { Errno(rawValue: Glibc.errno) }
}
