import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTServer
import HCISocket

/// The other side of `bench`: a server that takes whatever is written, counts it, and sends values as fast as they go.
struct BenchServer: Sendable {
    /// What it is found by, and what it has. The UUIDs are of this tool, and its own.
    enum Attribute {
        static let service: BluetoothUUID = 0xb1e7_0000_93c5_4c1b_a7f4_2d8e_1f6a_b0c3
        /// A characteristic that accepts writes of any value.
        static let sink: BluetoothUUID = 0xb1e7_0001_93c5_4c1b_a7f4_2d8e_1f6a_b0c3
        /// Notifies without a pause; a value begins with its number, four octets.
        static let source: BluetoothUUID = 0xb1e7_0002_93c5_4c1b_a7f4_2d8e_1f6a_b0c3
        /// The octets that the sink has taken since the server began, in eight octets.
        static let count: BluetoothUUID = 0xb1e7_0003_93c5_4c1b_a7f4_2d8e_1f6a_b0c3
    }

    /// The name in the advertising data.
    static let name = "Bench"

    let manager: PeripheralManager
    /// Octets of a notified value; nil: what fits one packet.
    let size: Int?

    init(_ adapter: Adapter, size: Int?) {
        manager = PeripheralManager(adapter)
        self.size = size
    }

    /// Publishes it and advertises it to one central at a time, so that what is counted is that one's.
    func start() async throws(BLEError) -> ReadyEvent {
        let taken = Lock(UInt64(0))
        let service = GATTService(
            Attribute.service,
            characteristics: [
                GATTCharacteristic(
                    Attribute.sink, properties: [.write, .writeWithoutResponse],
                    onWrite: { request in
                        taken.withLock { $0 &+= UInt64(request.value.count) }
                        return .accept
                    }),
                GATTCharacteristic(Attribute.source, properties: .notify),
                GATTCharacteristic(
                    Attribute.count, properties: .read,
                    onRead: { _ in .value([UInt8](littleEndian: taken.withLock { $0 })) }),
            ])
        try await manager.publish([service], generic: GenericServices(deviceName: Self.name))
        var content = AdvertisingContent()
        (content.name, content.services) = (Self.name, [Attribute.service])
        let request: AdvertisingRequest
        do throws(AdvertisingPlanError) {
            request = AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable), kind: .connectable)
        } catch {
            throw .advertising(error)
        }
        let advertising = try await manager.advertise(request)
        let set = ReadyEvent.Advertised(request, power: await advertising.power)
        return await ReadyEvent(manager.adapter, sets: [set])
    }

    /// Sends to the subscriber, until the adapter ends or the task is cancelled; `report` is called with each
    /// connection and disconnection.
    func serve(_ report: (PeripheralEvent) -> Void) async throws(BLEError) {
        var sending: Task<Void, Never>?
        defer { sending?.cancel() }
        for try await event in manager.events() {
            switch event {
            case .connected, .disconnected: report(event)
            case .subscribed(_, let handle, Attribute.source, _):
                sending?.cancel()
                sending = Task(executorPreference: manager.adapter.loop) { await send(on: handle) }
            default: break
            }
        }
    }

    /// Sends numbered values while there are a subscriber and room.
    private func send(on handle: AttributeHandle) async {
        var number: UInt32 = 0
        while !Task.isCancelled, let subscriber = await manager.subscribers(of: handle).first {
            let room = max(4, min(size ?? .max, subscriber.maximumUpdateLength))
            let value = [UInt8](littleEndian: number) + [UInt8](repeating: 0x55, count: room - 4)
            do throws(BLEError) {
                try await manager.readyToUpdate(handle)
                if try await manager.tryUpdate(handle, to: value) { number &+= 1 }
            } catch {
                return
            }
        }
    }
}
