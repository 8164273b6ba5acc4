import ATT
import BLECore
import GATTClient

/// Everything that a device shows: its database, and the values that can be read.
public struct DatabaseValues: Sendable {
    /// The services, characteristics and descriptors.
    public let database: RemoteDatabase
    /// The value of each characteristic that has the property Read, and of each descriptor, by the handle of the value;
    /// or the refusal of the server.
    public let results: [AttributeHandle: Result<[UInt8], ATTErrorResponse>]

    /// The value of an attribute; nil if it cannot be read.
    public subscript(_ attribute: some AttributeReference) -> [UInt8]? {
        try? results[attribute.valueHandle]?.get()
    }
}

extension Peripheral {
    /// Discovers everything, and reads the values of all characteristics with the property Read and of all
    /// descriptors, one after the other. A refusal of the server is part of the result; the end of the link and
    /// other failures are thrown.
    ///
    /// ```swift
    /// let all = try await peripheral.readAll()
    /// for characteristic in all.database.services.flatMap(\.characteristics) {
    ///     print(characteristic.uuid, all[characteristic]?.hex ?? "-")
    /// }
    /// ```
    public func readAll() async throws(BLEError) -> DatabaseValues {
        let database = try await discover()
        var results: [AttributeHandle: Result<[UInt8], ATTErrorResponse>] = [:]
        for characteristic in database.services.flatMap(\.characteristics) {
            if characteristic.properties.contains(.read) {
                results[characteristic.valueHandle] = try await attempt(characteristic)
            }
            for descriptor in characteristic.descriptors {
                results[descriptor.handle] = try await attempt(descriptor)
            }
        }
        return DatabaseValues(database: database, results: results)
    }

    private func attempt(
        _ attribute: some AttributeReference
    ) async throws(BLEError) -> Result<[UInt8], ATTErrorResponse> {
        do throws(BLEError) {
            return .success(try await read(attribute))
        } catch .att(let refusal) {
            return .failure(refusal)
        }
    }

    /// Subscribes to every characteristic that can notify or indicate, and returns one stream of all values that the
    /// device sends. Those that the server refuses to subscribe to, or that have no Client Characteristic
    /// Configuration, are included without a subscription: `refused` is called with each of them. Otherwise as
    /// `values(of:)` of several characteristics.
    public func allValues(
        buffer: BufferPolicy = .standard,
        refused: (RemoteCharacteristic, BLEError) -> Void = { _, _ in }
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        let database = try await discover()
        let collector = try await ValueCollector(of: self, buffer: buffer)
        for characteristic in database.services.flatMap(\.characteristics)
        where !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
            do throws(BLEError) {
                try await collector.add(
                    characteristic, indications: !characteristic.properties.contains(.notify))
            } catch .att(let refusal) {
                refused(characteristic, .att(refusal))
            }
        }
        return collector.values
    }
}
