import ATT
import BLE
import BLECore

extension Meter {
    /// Does an operation again and again, until there were enough; a time limit cancels it.
    func run(
        _ operation: BenchEvent.Operation, _ attribute: RemoteAttribute, _ value: [UInt8],
        on peripheral: Peripheral, atMost most: Int
    ) async throws(BLEError) {
        if operation == .notification || operation == .indication {
            guard let characteristic = attribute.characteristic else { return }
            let values = try await peripheral.values(
                of: characteristic, indications: operation == .indication, buffer: .newest(4096))
            let isNumbered = attribute.uuid == BenchServer.Attribute.source
            for try await received in values {
                arrived(received.value, isNumbered: isNumbered)
                if operations >= most { return }
            }
            return
        }
        while operations < most {
            if Task.isCancelled { throw .cancelled }
            let start = ContinuousClock.now
            switch operation {
            case .read:
                let read = try await peripheral.read(attribute.handle)
                note(octets: read.count, since: start)
            case .write:
                try await peripheral.write(value, to: attribute.handle)
                note(octets: value.count, since: start)
            default:
                try await peripheral.writeWithoutResponse(value, to: attribute.handle)
                note(octets: value.count, since: start)
            }
        }
    }
}
