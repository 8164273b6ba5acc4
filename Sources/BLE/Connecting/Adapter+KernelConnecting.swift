import BLECore
import HCISocket
import Logging
import SystemPackage

/// Connecting by the kernel, which has an order of its own and gives up after 20 to 40 s.
extension Adapter {
    func askKernel(for peer: DeviceAddress) throws(BLEError) {
        guard let kernel = kernel?.kernel else { return }
        do throws(PortError) {
            connecting.pending[peer]?.asked = loop.now
            connecting.pending[peer]?.kernel = try kernel.connect(from: identity, to: peer, on: loop) {
                [weak self] result in
                self?.assumeIsolated { $0.kernelConnected(peer, result) }
            }
        } catch  where error.errno == .resourceBusy {
            throw .busy(peer)
        } catch {
            throw .kernel(error, operation: "connecting", kernel.files)
        }
    }

    /// Asks anew for those whose attempts a power cycle has ended.
    func askKernelAgain() {
        guard kernel != nil else { return }
        for (peer, pending) in connecting.pending where pending.kernel == nil {
            if !links.values.contains(where: { $0.peer == peer }) { seekAgain(peer) }
        }
    }

    private func kernelConnected(_ peer: DeviceAddress, _ result: Result<L2CAPChannel, PortError>) {
        guard let pending = connecting.pending[peer] else {
            if case .success(let channel) = result { channel.port.close() }
            return
        }
        connecting.pending[peer]?.kernel = nil
        // The raw socket may have the link's parameters and leave them for a while.
        port.readNow()
        switch result {
        case .success(let channel):
            addLink(
                to: peer, as: .central, over: .socket(channel), mtu: pending.requests.first?.options.mtu)
        // What brings the adapter back asks anew.
        case .failure where recovery.isUnderWay: break
        case .failure(let error) where pending.ranOut(error, at: loop.now):
            seekAgain(peer)
        case .failure(let error):
            let reason = error.errno.map { DisconnectReason.errno($0.rawValue) } ?? .unknown
            failPending(peer, error.errno == .resourceBusy ? .busy(peer) : .connectFailed(reason))
        }
    }
}

extension ConnectState.Pending {
    /// Whether the kernel's own time limit ended it, and not the caller's: then it is asked again. After 40 s
    /// it says "connection refused", as it does at once when LE is off.
    fileprivate func ranOut(_ error: PortError, at now: Instant) -> Bool {
        switch error.errno {
        case .timedOut?, .hostIsDown?: true
        case .connectionRefused?: asked + .seconds(10) <= now
        default: false
        }
    }
}
