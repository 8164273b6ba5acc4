import ATT
import BLECore

extension PeripheralManager {
    /// Stores the value of the first characteristic of a key's type, and sends it to its subscribers, as
    /// `update(_:to:for:)` does.
    @discardableResult
    public func update<Value>(
        _ key: CharacteristicKey<Value>, to value: Value, for centrals: [Central]? = nil
    ) async throws(BLEError) -> [Central] {
        guard let handle = await valueHandle(of: key.characteristic) else {
            throw .notFound(.characteristic(key.characteristic, of: nil))
        }
        return try await update(handle, to: key.encode(value), for: centrals)
    }
}
