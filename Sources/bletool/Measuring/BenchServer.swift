import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTServer
import HCISocket

/// The other end of `bench`: a server that accepts and counts all writes, and sends values as fast as
/// possible.
struct BenchServer: Sendable {
    /// The service that identifies the server, and its characteristics. The UUIDs are used by this tool only.
    enum Attribute {
        static let service: BluetoothUUID = 0xb1e7_0000_93c5_4c1b_a7f4_2d8e_1f6a_b0c3
        /// A characteristic that accepts writes of any value.
        static let sink: BluetoothUUID = 0xb1e7_0001_93c5_4c1b_a7f4_2d8e_1f6a_b0c3
        /// A characteristic that notifies without a pause. Each value begins with its number in four octets.
        static let source: BluetoothUUID = 0xb1e7_0002_93c5_4c1b_a7f4_2d8e_1f6a_b0c3
        /// A characteristic with the number of octets that the sink has received since the server started, in
        /// eight octets.
        static let count: BluetoothUUID = 0xb1e7_0003_93c5_4c1b_a7f4_2d8e_1f6a_b0c3
    }

    /// The name in the advertising data.
    static let name = "Bench"

    let manager: PeripheralManager
    /// The octets of a notified value, or nil for as many as fit one packet.
    let size: Int?

    init(_ adapter: Adapter, size: Int?) {
        manager = PeripheralManager(adapter)
        self.size = size
    }

    /// Publishes the server and advertises it to one central at a time, so that the octets of only that
    /// central are counted.
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

    /// Sends values to the subscriber until the adapter closes or the task is cancelled. Calls `report` with
    /// each connection and disconnection.
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

    /// Sends numbered values, when there is room, while a central is subscribed.
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
