import CLinux
import Glibc
import SystemPackage

/// The events for which a descriptor is ready.
public struct Readiness: OptionSet, Sendable {
    /// The event bits of epoll(7).
    public let rawValue: UInt32

    /// Creates a set from the event bits of epoll(7).
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    init(_ bits: UInt32) { rawValue = bits }

    /// Data can be read, or the end was reached.
    public static let read = Readiness(CLINUX_EPOLLIN)
    /// Data can be written without waiting.
    public static let write = Readiness(CLINUX_EPOLLOUT)
    /// The descriptor has a pending error.
    public static let error = Readiness(CLINUX_EPOLLERR)
    /// The other side has closed the connection (EPOLLHUP).
    public static let hangUp = Readiness(CLINUX_EPOLLHUP)
    /// An option of a watch: each change is reported once, rather than for as long as it lasts.
    static let edge = Readiness(CLINUX_EPOLLET)
}

extension Errno {
    /// The value of errno after the last failed call of this thread.
    package static var current: Errno { Errno(rawValue: Glibc.errno) }
}
