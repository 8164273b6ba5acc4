import ATT
import BLECore
import GATT
import GATTClient

/// A server whose database a client recognizes by its hash, so that one request discovers it. The value of
/// Service Changed is at 0x0003 and another value is at 0x0013. Each is followed by its CCCD.
struct KnownServer {
    static let readHash = "080100ffff2a2b"
    static let valueHandle: AttributeHandle = 0x0013

    let database: RemoteDatabase
    /// The answer to `readHash`.
    let hashAnswer: String

    init(_ uuid: BluetoothUUID = 0xfff1, hash octet: UInt8 = 0xaa, features: Bool = false) {
        func characteristic(
            _ uuid: BluetoothUUID, _ handle: AttributeHandle, _ properties: CharacteristicProperties
        ) -> RemoteCharacteristic {
            let value = AttributeHandle(handle.rawValue + 1)
            let descriptor = AttributeHandle(handle.rawValue + 2)
            return RemoteCharacteristic(
                uuid: uuid, handle: handle, valueHandle: value, endHandle: descriptor,
                properties: properties,
                descriptors: [RemoteDescriptor(uuid: .clientCharacteristicConfiguration, handle: descriptor)])
        }
        var generic = [characteristic(.serviceChanged, 0x0002, .indicate)]
        if features {
            generic.append(
                RemoteCharacteristic(
                    uuid: .clientSupportedFeatures, handle: 0x0005, valueHandle: 0x0006, endHandle: 0x0006,
                    properties: [.read, .write]))
        }
        let services = [
            RemoteService(
                uuid: .genericAttribute, handle: 0x0001, endHandle: 0x0006, characteristics: generic),
            RemoteService(
                uuid: 0xfff0, handle: 0x0011, endHandle: 0x0020,
                characteristics: [characteristic(uuid, 0x0012, [.notify, .indicate])]),
        ]
        database = RemoteDatabase(services: services, hash: [UInt8](repeating: octet, count: 16))
        hashAnswer = "09123000" + String(repeating: String(octet, radix: 16), count: 16)
    }

    /// A client that has this database in its cache.
    var client: AskingClient {
        var cache = DatabaseCache()
        cache.keep(CachedDatabase(database), of: AskingClient.peer)
        return AskingClient(knowing: cache)
    }

    /// Returns a client that has discovered this database, and the characteristic of the value.
    func discovered() throws -> (AskingClient, RemoteCharacteristic) {
        var client = client
        _ = client.connection.session.discover()
        _ = client.sent()
        var asked = client.ask(hashAnswer)
        // Answers the writes that follow the discovery.
        while !asked.isEmpty { asked = client.ask("13") }
        _ = client.events()
        let database = client.connection.session.currentDatabase
        guard let value = database?.characteristic(containing: Self.valueHandle) else {
            throw GATTFailure.restlessDatabase
        }
        return (client, value)
    }
}
