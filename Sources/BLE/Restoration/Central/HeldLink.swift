import BLECore
import GATTClient
import HCISocket
import Logging

/// A restored link and its streams, until they are taken up.
final class HeldLink: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var link: LinkID?
        var streams = RestoredStreams()
    }

    let device: RestoredPeripheral
    /// The numbers of its requests on the disk.
    let numbers: [UInt64]
    private let adapter: Adapter
    private let state = Lock(State())
    private let log = Logger(label: "ble.restoration")

    init(_ device: RestoredPeripheral, numbers: [UInt64], _ adapter: Adapter) {
        self.device = device
        self.numbers = numbers
        self.adapter = adapter
    }

    deinit { end() }

    /// Connects, and connects again whenever the link has ended.
    func begin() {
        let task = Task(executorPreference: adapter.loop) { [weak self, adapter, device, log] in
            let central = CentralManager(adapter)
            do throws(BLEError) {
                let sessions = central.maintain(device.id, options: device.options) { event in
                    if case .failed(let error, _) = event { log.warning("\(device.id.address): \(error)") }
                }
                for try await session in sessions { await self?.subscribe(session) }
            } catch .cancelled {
                // The link was taken up, or is no longer needed.
            } catch {
                log.warning("\(device.id.address) is not brought back: \(error)")
            }
        }
        state.withLock { $0.task = task }
    }

    private func subscribe(_ session: Peripheral) async {
        _ = state.withLock { state in
            state.link = session.link
            // The streams are released outside of the lock.
            return state.streams.takeAll()
        }
        for subscription in device.subscriptions {
            do throws(BLEError) {
                let stream = try await session.values(of: subscription)
                state.withLock { $0.streams.add(stream, of: subscription) }
            } catch .cancelled {
                // The link was taken up meanwhile; its new owner subscribes.
                return
            } catch {
                log.warning("\(subscription.characteristic) of \(device.id.address): \(error)")
            }
        }
    }

    /// Returns the streams to their new owner, if they are of that link.
    func streams(on link: LinkID) -> RestoredStreams {
        let (streams, isSame) = state.withLock { ($0.streams.takeAll(), $0.link == link) }
        return isSame ? streams : RestoredStreams()
    }

    /// Stops connecting, and leaves the link.
    func end() { state.withLock { $0.task.take() }?.cancel() }
}
