import ATT
import BLECore
import GATTServer

/// A published Nordic UART Service, which exchanges octets with each central.
///
/// ```swift
/// let uart = try await manager.serveUART()
/// for try await (central, octets) in uart.received { _ = try await uart.send(octets, to: central) }
/// ```
public struct UARTServer: Sendable {
    private let manager: PeripheralManager
    private let events: BoundedStream<PeripheralEvent>
    /// The handle at which the service begins, for `PeripheralManager.removeService(at:)`.
    public let handle: AttributeHandle
    /// The value that centrals subscribe to.
    public let transmitHandle: AttributeHandle

    init(
        _ manager: PeripheralManager, _ events: BoundedStream<PeripheralEvent>, handle: AttributeHandle,
        transmit: AttributeHandle
    ) {
        self.manager = manager
        self.events = events
        self.handle = handle
        transmitHandle = transmit
    }

    /// The octets that centrals send, in order, for one consumer. The stream ends with `BLEError.overflow` when
    /// its consumer is more than 4,096 events of the server behind.
    public var received: some AsyncSequence<(central: Central, octets: [UInt8]), BLEError> & Sendable {
        events.compactMap { event -> (central: Central, octets: [UInt8])? in
            guard case .write(let central, let write, _) = event, write.uuid == .nordicUARTReceive else {
                return nil
            }
            return (central, write.value)
        }
    }

    /// Sends octets to a central, in as many notifications as its MTU requires. Waits while the link has no room.
    /// Returns false when the central has not subscribed or has disconnected: then nothing, or only a part, was
    /// sent.
    public func send(_ octets: [UInt8], to central: Central) async throws(BLEError) -> Bool {
        let mtu: Int
        do throws(BLEError) {
            mtu = try await manager.connection(of: central).parameters.mtu
        } catch {
            // That the link has ended is not a failure of this call.
            try await manager.adapter.throwUnlessEnded(error, link: central.link)
            return false
        }
        let size = min(mtu - 3, ATTLimits.valueLength)
        for start in stride(from: 0, to: octets.count, by: size) {
            let part = Array(octets[start..<min(start + size, octets.count)])
            guard try await manager.update(transmitHandle, to: part, for: [central]) == [central] else {
                return false
            }
        }
        return true
    }
}

extension PeripheralManager {
    /// Publishes a Nordic UART Service beside the services that are published already.
    public func serveUART() async throws(BLEError) -> UARTServer {
        let events = events()
        let service = GATTService.nordicUART()
        guard let range = try await add([service]) else {
            throw .notFound(.service(service.uuid))
        }
        // The range has the declaration of the service, then declaration and value of each characteristic.
        let transmit = AttributeHandle(range.start.rawValue + 4)
        return UARTServer(self, events, handle: range.start, transmit: transmit)
    }
}
