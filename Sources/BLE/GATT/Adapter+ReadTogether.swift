import ATT
import BLECore
import GATT
import GATTClient

extension Adapter {
    /// Several values in as few requests as the server allows.
    func readTogether(_ handles: [CheckedHandle], on id: LinkID) async throws(BLEError) -> ReadTogether {
        let numbers = handles.map(\.handle)
        // Both requests want two handles or more (Core Specification 5.4, Vol 3, Part F, 3.4.4.7).
        guard numbers.count > 1 else { return .separate(try await readEach(handles[...], on: id)) }
        do throws(BLEError) {
            let read = try await run(ReadMultipleVariable(numbers), about: handles, on: id)
            let whole = read.prefix { !$0.isTruncated }
            return .separate(whole + (try await readEach(handles.dropFirst(whole.count), on: id)))
        } catch .att(let refusal) where refusal.code == .requestNotSupported {
            // An older server.
        }
        do throws(BLEError) {
            let joined = try await run(ReadMultiple(numbers), about: handles, on: id)
            // What fills the response may lack its end.
            guard joined.count >= (try link(id).gatt.mtu.readValue) else { return .joined(joined) }
            return .joined(try await readEach(handles[...], on: id).flatMap(\.value))
        } catch .att(let refusal) where refusal.code == .requestNotSupported {
            return .separate(try await readEach(handles[...], on: id))
        }
    }

    private func readEach(
        _ handles: ArraySlice<CheckedHandle>, on id: LinkID
    ) async throws(BLEError) -> [RemoteValue] {
        var values: [RemoteValue] = []
        for each in handles {
            let value = try await run(ReadLongValue(each.handle), about: [each], on: id)
            values.append(RemoteValue(handle: each.handle, value: value, length: value.count))
        }
        return values
    }
}
