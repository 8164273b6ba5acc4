import BLE
import BLECore
import CProbe
import Glibc
import HCISocket

/// Measures advertising reports from the socket to the application. A controller in C writes them into a
/// socket that preserves packet boundaries, as the kernel's HCI sockets do; the baseline is a C program that
/// only reads and counts them. The measure is the processor time of the single thread that does all the work;
/// the writer has its own thread.
func measureReports() async throws -> [Figure] {
    print("")
    var (plainRounds, ourRounds): ([Double], [Double]) = ([], [])
    let count = 200_000
    for round in 0..<8 {
        let plain = try plainCount(probe_feed(reports: UInt32(count), devices: 100, pause: 0))
        let ours = try await scan(probe_feed(reports: UInt32(count), devices: 100, pause: 0)).processor
        // The first round is a warm-up for both.
        if round == 0 { continue }
        plainRounds.append(Double(plain) / Double(count))
        ourRounds.append(Double(ours) / Double(count))
    }
    let (base, value) = (median(plainRounds), median(ourRounds))
    line("a report, a C program that reads and counts", "\(Int(base)) ns")
    line("a report, from the socket to the application", "\(Int(value)) ns", "(\(Int(1e9 / value)) a second)")
    let ratio = Figure(what: "a report", value: value / base, aim: 3)
    line("ratio", "\(ratio.rounded)", "(aim: 3)")

    // Each of these reports wakes the thread. The share of the C program shows the system's cost of that.
    let paced = probe_feed(reports: 6000, devices: 100, pause: 500_000)
    let plainCalm = try plainCount(paced)
    let calm = try await scan(paced)
    let share = Double(calm.processor) / Double(calm.elapsed) * 100
    let plainShare = Double(plainCalm) / (6000 * 500_000) * 100
    line("share of a core at 2,000 reports a second, C", "\((plainShare * 100).rounded() / 100) %")
    let busy = Figure(what: "share of a core at 2,000 reports a second", value: share, unit: "%", aim: 3)
    line(busy.what, "\(busy.rounded) %", "(aim: 3)")

    let before = probe_live_octets()
    let crowd = try await scan(probe_feed(reports: 1_000_000, devices: 1_000_000, pause: 0))
    let octets = crowd.live - before
    let memory = Figure(
        what: "memory that a million devices take", value: Double(octets) / 1_048_576, unit: "MiB", aim: 24)
    line(memory.what, "\(octets / 1024) KiB", "(aim: 24 MiB, in total)")
    return [ratio, busy, memory]
}

/// Starts a controller at the other end of a socket and returns this end.
private func controller(_ feed: probe_feed) throws(BLEError) -> CInt {
    guard let (host, controller) = socketPair(), probe_start_controller(controller, feed) == 0 else {
        throw .port(.ended)
    }
    return host
}

private func plainCount(_ feed: probe_feed) throws(BLEError) -> UInt64 {
    let socket = try controller(feed)
    defer { close(socket) }
    let spent = probe_count_reports(socket, feed.reports)
    precondition(spent > 0, "the controller's socket ended")
    return spent
}

/// The cost of a scan that received all the reports of a feed: the processor time of its thread and the
/// elapsed time, in nanoseconds, and the octets that were allocated when the last report arrived.
private struct Cost: Sendable {
    var processor: UInt64
    var elapsed: UInt64
    var live: Int64
}

private func scan(_ feed: probe_feed) async throws -> Cost {
    let loop = EventLoop.shared
    let socket = try controller(feed)
    _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    let adapter = try await Adapter.open(
        on: PacketSocket(socket, on: loop, maximumPacket: 260, gathersReports: true), name: "bench")
    var options = ScanOptions()
    options.repeats = .all
    options.buffer = 1 << 16
    let cost = try await Task(executorPreference: loop) { [options] in
        let stream = CentralManager(adapter).scan(options)
        let (start, began) = (probe_thread_time(), ContinuousClock.now)
        var packets = 0
        for try await found in stream {
            keep(found)
            packets += 1
            if packets + stream.dropped == Int(feed.reports) { break }
        }
        precondition(stream.dropped == 0, "\(stream.dropped) reports were dropped")
        let elapsed = ContinuousClock.now - began
        return Cost(
            processor: probe_thread_time() - start, elapsed: UInt64(elapsed / .nanoseconds(1)),
            live: probe_live_octets())
    }.value
    await adapter.close()
    return cost
}
