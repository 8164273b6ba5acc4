import ATT
import BLE
import BLECore
import CProbe
import Glibc
import HCISocket

/// Measures requests of a client in C over sockets that preserve packet boundaries, as the kernel's L2CAP sockets do.
/// The servers are a plain epoll thread in C that answers from a buffer; this library's event loop with port, bearer and
/// server; and the adapter that ships, without and with a program that reads its events. They take turns, so that other
/// load on the machine affects all of them, and the median of the rounds is used.
func measureRoundTrips() async throws -> [Figure] {
    var host = Host(services: 4)
    let answer = host.response(to: host.readRequest)
    guard let plain = startPlainEcho(answer), let machine = startServer(host) else {
        preconditionFailure("no socket or thread for the round trips")
    }
    let (silent, heard) = (try await ShippedServer(isHeard: false), try await ShippedServer(isHeard: true))
    let servers: [(String, CInt, aim: Double?)] = [
        ("plain C epoll", plain, nil), ("our machines", machine, 1.25), ("our adapter", silent.client, 1.55),
        ("our adapter, events read", heard.client, 2.05),
    ]
    let turns: UInt32 = 20_000
    var rounds = [[Double]](repeating: [], count: servers.count)
    for round in 0..<16 {
        for (number, (_, descriptor, _)) in servers.enumerated() {
            // The adapters have the same services behind those that every server has.
            let request = number < 2 ? host.readRequest : silent.readRequest
            let spent = probe_ping(descriptor, request, UInt32(request.count), UInt32(answer.count), turns)
            precondition(spent > 0, "an answer is not as long as it should be")
            // The first round is a warm-up for all.
            if round > 0 { rounds[number].append(Double(spent) / Double(turns)) }
        }
    }
    print("")
    let times = rounds.map(median)
    var figures: [Figure] = []
    for ((name, descriptor, aim), time) in zip(servers, times) {
        defer { close(descriptor) }
        let what = "request and response, \(name)"
        guard let aim else {
            line(what, "\(Int(time)) ns")
            continue
        }
        let ratio = Figure(what: what, value: time / times[0], aim: aim)
        line(what, "\(Int(time)) ns", "ratio \(ratio.rounded) (aim: \(aim))")
        figures.append(ratio)
    }
    await silent.end()
    await heard.end()
    return figures
}

/// The server that ships: an adapter of a kernel, with one link.
private struct ShippedServer {
    /// The client's end of the link.
    let client: CInt
    let readRequest: [UInt8]
    /// Nothing else retains the air of the adapter's controller.
    private let air: AirServer
    private let adapter: Adapter
    private let events: Task<Void, any Error>?

    init(isHeard: Bool) async throws {
        guard let (served, asked) = socketPair() else {
            preconditionFailure("no socket for the round trips")
        }
        _ = fcntl(served, F_SETFL, O_NONBLOCK)
        let loop = try EventLoop(name: "adapter")
        air = AirServer(on: loop)
        let kernel = SocketKernel(await air.attach())
        var options = AdapterOptions(loop: loop)
        options.kernel = kernel
        adapter = try await Adapter.open(.kernel(.index(SocketKernel.index)), options: options)
        let peripheral = PeripheralManager(adapter)
        try await peripheral.publish(Host.services(4))
        guard let value = await peripheral.valueHandle(of: 0x2a6e) else {
            throw BLEError.notFound(.characteristic(0x2a6e, of: nil))
        }
        (client, readRequest) = (asked, ATTRequest.read(value).encoded)
        let stream = isHeard ? peripheral.events() : nil
        events = stream.map { stream in
            Task(executorPreference: loop) { for try await event in stream { keep(event) } }
        }
        await withCheckedContinuation { done in
            loop.execute {
                kernel.connect(served, on: loop)
                done.resume()
            }
        }
    }

    func end() async {
        events?.cancel()
        await adapter.close()
    }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// Returns the server's end and the client's end of a new socket pair.
func socketPair() -> (CInt, CInt)? {
    var ends: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else { return nil }
    return (ends[0], ends[1])
}

private func startPlainEcho(_ answer: [UInt8]) -> CInt? {
    guard let (served, asked) = socketPair() else { return nil }
    return probe_start_echo(served, answer, UInt32(answer.count)) == 0 ? asked : nil
}

private func startServer(_ host: Host) -> CInt? {
    guard let (served, asked) = socketPair(), let loop = try? EventLoop(name: "bench") else { return nil }
    _ = fcntl(served, F_SETFL, O_NONBLOCK)
    let server = SocketServer(host, PacketSocket(served, on: loop, maximumPacket: 672))
    loop.execute { server.start() }
    return asked
}

/// A host on a packet socket, until the other end closes the socket.
private final class SocketServer: @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private var host: Host
    private let port: PacketSocket

    init(_ host: Host, _ port: PacketSocket) {
        self.host = host
        self.port = port
    }

    func start() {
        let handlers = PacketPortHandlers(
            receive: { [self] in host.answer($0, sending: port.send) }, writable: {}, closed: { _ in })
        precondition((try? port.start(handlers)) != nil, "the socket cannot be watched")
    }
}
