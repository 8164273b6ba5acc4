import BLE
import Glibc

/// Performs all actions concurrently on many threads for ThreadSanitizer, which reports unordered accesses of
/// two threads and makes the process fail. It runs in real time, with the threads of the global pool and the
/// thread of the loop.
///
///     races [SECONDS [SEED]]
///     races prove             performs a race that must be reported
@main enum Races {
    static func main() async throws {
        guard CommandLine.arguments.dropFirst().first != "prove" else { return await race() }
        let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        let (seconds, seed) = (arguments.first ?? 10, arguments.dropFirst().first ?? 1)
        let stress = try await Stress(seed: seed)
        let counts = Lock<[String: Int]>([:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(worker) &* 1000)
                    while !Task.isCancelled {
                        let action = Action.allCases[Int(random.next() % UInt64(Action.allCases.count))]
                        let limit = Duration.milliseconds(Int64(random.next() % 300))
                        let ended = await stress.perform(action, cancelledAfter: limit, random.next())
                        counts.withLock { $0["\(action) \(ended ? "done" : "cut short")", default: 0] += 1 }
                    }
                }
            }
            try await Task.sleep(for: .seconds(seconds))
            group.cancelAll()
            try await group.waitForAll()
        }
        await stress.close()
        for (what, count) in counts.withLock({ $0 }).sorted(by: { $0.key < $1.key }) { print(what, count) }
        // A run in which an action was never tried proves nothing about that action.
        let idle = Action.allCases.filter { action in
            counts.withLock { !$0.keys.contains { $0.hasPrefix("\(action) ") } }
        }
        guard idle.isEmpty else {
            print("never tried: \(idle)")
            exit(1)
        }
    }

    /// Writes the same number in two tasks without order.
    private static func race() async {
        let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        number.initialize(to: 0)
        let place = UInt(bitPattern: number)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    // Both tasks run long enough to overlap. A thread that ends before the other begins
                    // causes no report.
                    for _ in 0..<100 {
                        UnsafeMutablePointer<Int>(bitPattern: place)?.pointee += 1
                        usleep(1000)
                    }
                }
            }
        }
        number.deallocate()
    }
}
