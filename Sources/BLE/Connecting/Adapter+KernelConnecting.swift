import BLECore
import HCISocket
import Logging
import SystemPackage

/// Connecting through the kernel, which chooses its own order of devices and gives up after 20 to 40 s.
extension Adapter {
    func askKernel(for peer: DeviceAddress) throws(BLEError) {
        guard let kernel = kernel?.kernel else { return }
        do throws(PortError) {
            let attempt = try kernel.connect(from: identity, to: peer, on: loop) { [weak self] result in
                self?.assumeIsolated { $0.kernelConnected(peer, result) }
            }
            kernelAttempts.began(attempt, for: peer, at: loop.now)
        } catch  where error.errno == .resourceBusy {
            throw .busy(peer)
        } catch {
            throw .kernel(error, operation: .connect, kernel.files)
        }
    }

    /// Repeats the attempts that a power cycle has ended.
    func askKernelAgain() {
        guard kernel != nil else { return }
        // No command asked for the security of links that were encrypted during the recovery.
        for link in links { noteSecurity(of: link) }
        for peer in radio.wantedDevices where !links.contains(where: { $0.peer == peer }) {
            seekAgain(peer)
        }
    }

    private func kernelConnected(_ peer: DeviceAddress, _ result: Result<L2CAPChannel, PortError>) {
        guard let asked = kernelAttempts.ended(for: peer) else {
            if case .success(let channel) = result { channel.port.close() }
            return
        }
        // The raw socket may already hold the link's parameters, which would otherwise be read later.
        port.readNow()
        switch result {
        case .success(let channel):
            addLink(
                to: peer, as: .central, over: .socket(channel), mtu: radio.firstOptions(for: peer)?.mtu)
        // The recovery of the adapter repeats the attempt.
        case .failure where recovery.isUnderWay: break
        case .failure(let error) where error.endsKernelAttempt(of: asked, at: loop.now):
            seekAgain(peer)
        case .failure(let error):
            let reason = error.errno.map { DisconnectReason.errno($0.rawValue) } ?? .unknown
            failPending(peer, error.errno == .resourceBusy ? .busy(peer) : .connectFailed(reason))
        }
    }
}

extension PortError {
    /// Returns whether the kernel's own time limit, not the caller's, ended an attempt that began at `asked`:
    /// the kernel is then asked again. After 40 s it reports "connection refused", as it does at once when LE
    /// is off.
    fileprivate func endsKernelAttempt(of asked: Instant, at now: Instant) -> Bool {
        switch errno {
        case .timedOut?, .hostIsDown?: true
        case .connectionRefused?: asked + .seconds(10) <= now
        default: false
        }
    }
}
