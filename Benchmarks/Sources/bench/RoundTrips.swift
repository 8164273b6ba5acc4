import ATT
import BLECore
import CProbe
import Glibc
import HCISocket

/// Measures requests of a client in C over a socket that preserves packet boundaries, as the kernel's L2CAP
/// sockets do. One server is a plain epoll thread in C that answers from a buffer, and the other is this
/// library's event loop with port, bearer and server. The two take turns, so that other load on the machine
/// affects both, and the median of the rounds is used.
func measureRoundTrips() -> Figure {
    var host = Host(services: 4)
    let request = host.readRequest
    let answer = host.response(to: request)
    guard let plain = startPlainEcho(answer), let ours = startServer(host) else {
        preconditionFailure("no socket or thread for the round trips")
    }
    let turns: UInt32 = 20_000
    var (plainRounds, ourRounds): ([Double], [Double]) = ([], [])
    for round in 0..<16 {
        for (descriptor, isOurs) in [(plain, false), (ours, true)] {
            let spent = probe_ping(descriptor, request, UInt32(request.count), UInt32(answer.count), turns)
            precondition(spent > 0, "an answer is not as long as it should be")
            // The first round is a warm-up for both.
            if round == 0 { continue }
            let each = Double(spent) / Double(turns)
            if isOurs { ourRounds.append(each) } else { plainRounds.append(each) }
        }
    }
    let (base, value) = (median(plainRounds), median(ourRounds))
    print("")
    print("request and response, plain C epoll".padded(46), "\(Int(base)) ns".leftPadded(10))
    print("request and response, our server".padded(46), "\(Int(value)) ns".leftPadded(10))
    let ratio = Figure(what: "request and response", value: value / base, aim: 1.25)
    print("ratio".padded(46), "\(ratio.rounded)".leftPadded(10), "(aim: \(ratio.aim))")
    close(plain)
    close(ours)
    return ratio
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
