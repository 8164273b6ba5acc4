extension Adapter {
    /// From now on, what ends in this process stays on the disk as it is, of all managers of this adapter that restore:
    /// for a program that is about to end. `withAdapter` calls it where a signal ends the program.
    public nonisolated func keepForNextStart() { leaving.withLock { $0 = true } }
}
