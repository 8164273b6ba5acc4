import Glibc
import SystemPackage

/// Reports files that appear in folders and disappear from them (inotify(7)), whichever process is the cause.
package final class FolderWatch: Sendable {
    /// An event that the handler of `start` receives.
    package enum Event: Hashable, Sendable {
        /// A file or folder with that name has been created, deleted or replaced.
        case changed(folder: Int32, name: String)
        /// A folder has been removed or unmounted and is no longer watched, or it has been moved. Moves are
        /// reported only for a mask with IN_MOVE_SELF, which `add` does not set.
        case gone(folder: Int32)
        /// The kernel has discarded events because there were too many; everything can have changed.
        case lost
    }

    private let watched: WatchedDescriptor

    private static let wanted =
        UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        | UInt32(IN_ONLYDIR)

    /// Creates a watch that watches no folder yet.
    package init(on loop: EventLoop) throws(PortError) {
        let descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard descriptor >= 0 else { throw .system(.current, during: "inotify_init") }
        watched = WatchedDescriptor(descriptor, on: loop)
    }

    /// Watches an additional folder. Returns the number that identifies the folder in events, which is the
    /// same if it is already watched. Looking up the path can block, so this can be called on any thread.
    package func add(_ path: String) throws(PortError) -> Int32 {
        let number = inotify_add_watch(watched.descriptor, path, Self.wanted)
        guard number >= 0 else { throw .system(.current, during: "inotify_add_watch \(path)") }
        return number
    }

    /// Watches an additional folder, as it is open.
    package func add(_ folder: OpenFolder) throws(PortError) -> Int32 { try add(folder.descriptorPath) }

    /// Calls `handler` on the loop with each batch of events until the watch is released. Call this on the
    /// loop.
    package func start(_ handler: @escaping @Sendable ([Event]) -> Void) throws(PortError) {
        let descriptor = watched.descriptor
        try watched.watch(for: .read) { _ in
            var octets = [UInt8](repeating: 0, count: 16_384)
            let count = octets.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { handler(Self.events(octets[..<count])) }
        }
    }

    /// Decodes the kernel's events: number, mask, cookie and length of the name, in 4 octets each, then the
    /// name, padded with zeros.
    package static func events(_ octets: ArraySlice<UInt8>) -> [Event] {
        var events: [Event] = []
        var rest = octets
        while rest.count >= 16 {
            let words = rest.prefix(16).withUnsafeBytes { bytes in
                (0..<4).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self) }
            }
            rest = rest.dropFirst(16)
            let name = rest.prefix(Int(clamping: words[3])).prefix { $0 != 0 }
            rest = rest.dropFirst(Int(clamping: words[3]))
            let ends = UInt32(IN_IGNORED) | UInt32(IN_UNMOUNT) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
            if words[1] & UInt32(IN_Q_OVERFLOW) != 0 {
                events.append(.lost)
            } else if words[1] & ends != 0 {
                events.append(.gone(folder: Int32(bitPattern: words[0])))
            } else if !name.isEmpty {
                let text = String(decoding: name, as: UTF8.self)
                events.append(.changed(folder: Int32(bitPattern: words[0]), name: text))
            }
        }
        return events
    }
}
