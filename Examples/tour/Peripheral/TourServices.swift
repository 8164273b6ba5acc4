import BLE
import ExampleSupport
import Synchronization

extension TourPeripheral {
    /// The services that a central discovers.
    var services: [GATTService] {
        let written = Mutex<UInt16>(0)
        return [
            .battery(80),
            GATTService(.tour, includes: [.uuid(.batteryService)]) {
                GATTCharacteristic(.tourCommand, properties: .write)
                GATTCharacteristic(
                    .tourAnswer, properties: .notify,
                    descriptors: [
                        .userDescription("Answers"),
                        .presentationFormat(CharacteristicPresentationFormat(.utf8)),
                    ])
                GATTCharacteristic(.tourSlow, properties: .read, onRead: answerLater)
                for uuid in [.tourLeft, .tourRight] as [BluetoothUUID] {
                    GATTCharacteristic(
                        uuid, properties: .write, extendedProperties: .reliableWrite, onWrite: takeTogether)
                }
                // Both notifications and indications require encryption.
                GATTCharacteristic(.tourAlarm, properties: [.notify, .indicate], subscription: .encrypted)
                GATTCharacteristic(
                    .tourSink, properties: [.read, .writeWithoutResponse],
                    onRead: { _ in
                        let count = written.withLock { count in
                            defer { count = 0 }
                            return count
                        }
                        return .value(CharacteristicKey.tourSink.encode(count))
                    },
                    onWrite: { _ in
                        written.withLock { $0 += 1 }
                        return .accept
                    })
                GATTCharacteristic(.tourFlood, properties: .notify)
                GATTCharacteristic(.tourSigned, properties: [.read, .authenticatedSignedWrites])
            },
            .deviceInformation(DeviceInformation(manufacturer: "Examples", model: "Tour")),
            GATTService(.heartRateService) {
                GATTCharacteristic(.heartRateMeasurement, properties: .notify)
            },
        ]
    }

    /// Answers later: handlers must not block, so a handler that needs time returns `.later`.
    private func answerLater(_ request: GATTReadRequest) -> GATTReadOutcome {
        Program.printLine(
            "slow: asked from octet \(request.offset), in packets of \(request.mtu.octets) octets")
        Task {
            Program.printLine("slow: answered later")
            await manager.complete(request.pending, with: .success(Array("worth waiting for".utf8)))
        }
        return .later
    }

    /// Accepts values that are written together. The handler is called for each characteristic with the whole
    /// transaction; either all handlers accept, or nothing is stored.
    private func takeTogether(_ request: GATTWriteRequest) -> GATTWriteOutcome {
        guard request.write == request.transaction.first else { return .accept }
        let values = request.transaction.map { "\($0.uuid) \($0.value)" }
        Program.printLine("together: \(values.joined(separator: ", "))")
        return .accept
    }
}
