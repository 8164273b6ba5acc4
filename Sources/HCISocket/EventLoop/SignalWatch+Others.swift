/// Signals that another part of the program handles than the watch's owner, such as those of a terminal while
/// something is drawn on it.
extension SignalWatch {
    struct Others {
        /// The watch of this process, or nil while there is none.
        weak var watch: SignalWatch?
        var handlers: [CInt: @Sendable (CInt) -> Void] = [:]
        /// What is done before the process ends by a signal.
        var farewell: (@Sendable () -> Void)?
    }
    static let others = Lock(Others())

    /// Calls `handler` with these signals, on the watch's loop, until `unwatch` or the watch's end. Without a watch they
    /// do what they do by default.
    package static func watch(_ signals: [CInt], to handler: @escaping @Sendable (CInt) -> Void) {
        let watch = others.withLock { others in
            for signal in signals { others.handlers[signal] = handler }
            return others.watch
        }
        watch?.loop.execute { watch?.watch(signals, isWatched: true) }
    }

    /// Lets these signals do again what they do by default.
    package static func unwatch(_ signals: [CInt]) {
        let watch = others.withLock { others in
            for signal in signals { others.handlers[signal] = nil }
            return others.watch
        }
        watch?.loop.execute { watch?.watch(signals, isWatched: false) }
    }

    /// What is done before the process ends by a signal that was caught; nil: nothing.
    package static func beforeDeath(_ farewell: (@Sendable () -> Void)?) {
        others.withLock { $0.farewell = farewell }
    }

    static func otherHandler(of signal: CInt) -> (@Sendable (CInt) -> Void)? {
        others.withLock { $0.handlers[signal] }
    }
}
