import AssignedNumbers
import BLECore

/// ATTR on a command line: an attribute of a peer's database.
enum AttributePath: Hashable, Sendable {
    /// `0x0012`: the attribute with that handle.
    case handle(AttributeHandle)
    /// `2a19`, `180f/2a19` or `180f/2a19/2902`: the first match, in all services if none is given.
    case uuids(service: BluetoothUUID?, characteristic: BluetoothUUID, descriptor: BluetoothUUID?)

    /// Parses the path of an attribute. Numbers after `0x` are handles; all others are UUIDs.
    init(text: some StringProtocol, names: UUIDNames) throws(BadInput) {
        if text.hasPrefix("0x") || text.hasPrefix("0X") {
            let handle = try UInt16(text: text, in: 1...0xffff, "a handle")
            self = .handle(AttributeHandle(handle))
            return
        }
        // Some names of the SIG contain a slash.
        if let uuid = names(String(text), .characteristic) {
            self = .uuids(service: nil, characteristic: uuid, descriptor: nil)
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 3 else {
            throw BadInput("\(text.quoted) has too many parts", hint: "SERVICE/CHARACTERISTIC/DESCRIPTOR")
        }
        if parts.count == 1, text.count < 4, text.allSatisfy(\.isHexDigit), !text.isEmpty {
            throw BadInput(
                "\(text.quoted) is not a UUID, which has 4 digits at least",
                hint: "a handle begins with 0x, as in 0x0012")
        }
        let kinds: [AssignedNumbers.UUIDKind] =
            parts.count == 1 ? [.characteristic] : [.service, .characteristic, .descriptor]
        var uuids: [BluetoothUUID] = []
        for (part, kind) in zip(parts, kinds) {
            uuids.append(try BluetoothUUID(text: part, kind: kind, names: names))
        }
        self = .uuids(
            service: uuids.count > 1 ? uuids[0] : nil, characteristic: uuids[uuids.count > 1 ? 1 : 0],
            descriptor: uuids.count > 2 ? uuids[2] : nil)
    }
}

extension AttributePath: CustomStringConvertible {
    /// The path in the form that `init(text:names:)` reads.
    var description: String {
        switch self {
        case .handle(let handle): "\(handle)"
        case .uuids(let service, let characteristic, let descriptor):
            [service, characteristic, descriptor].compactMap { $0?.description }.joined(separator: "/")
        }
    }
}
