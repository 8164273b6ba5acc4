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
    /// other failures are thrown. With `raisingSecurity`, a value that needs more security makes the host pair, as the
    /// options of the connection permit; a pairing that fails is thrown.
    ///
    /// ```swift
    /// let all = try await peripheral.readAll()
    /// for characteristic in all.database.services.flatMap(\.characteristics) {
    ///     print(characteristic.uuid, all[characteristic]?.hex ?? "-")
    /// }
    /// ```
    public func readAll(raisingSecurity: Bool = false) async throws(BLEError) -> DatabaseValues {
        let database = try await discover()
        var results: [AttributeHandle: Result<[UInt8], ATTErrorResponse>] = [:]
        for characteristic in database.services.flatMap(\.characteristics) {
            if characteristic.properties.contains(.read) {
                results[characteristic.valueHandle] = try await attempt(characteristic, raisingSecurity)
            }
            for descriptor in characteristic.descriptors {
                results[descriptor.handle] = try await attempt(descriptor, raisingSecurity)
            }
        }
        return DatabaseValues(database: database, results: results)
    }

    private func attempt(
        _ attribute: some AttributeReference, _ raisingSecurity: Bool
    ) async throws(BLEError) -> Result<[UInt8], ATTErrorResponse> {
        do throws(BLEError) {
            return .success(try await read(attribute, raisingSecurity: raisingSecurity))
        } catch .att(let refusal) {
            return .failure(refusal)
        }
    }

    /// Subscribes to every characteristic that can notify or indicate, and returns one stream of all values that the
    /// device sends, in the order of arrival. Characteristics without Client Characteristic Configuration are included
    /// without a subscription. Those whose subscription fails, for example because it needs more security, are left
    /// out, and `refused` is called with each of them; the end of the link is thrown. A manager that restores its state
    /// does not restore this stream.
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
            } catch {
                guard await state == .connected, error != .cancelled else { throw error }
                refused(characteristic, error)
            }
        }
        return collector.values
    }
}
