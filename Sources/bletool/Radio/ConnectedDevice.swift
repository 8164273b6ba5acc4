import BLE
import BLECore
import GATTClient

/// A device that a verb of `gatt` works on.
struct ConnectedDevice: Sendable {
    let peripheral: Peripheral
    let radio: Radio

    var console: Console { radio.console }

    /// Runs an operation within the command's time limit.
    func attempt<Result: Sendable>(
        _ what: String, _ body: @escaping @Sendable () async throws(BLEError) -> Result
    ) async throws(Failure) -> Result {
        try await radio.attempt(what) { () throws(BLEError) in
            try await radio.adapter.within(radio.timeLimit, body)
        }
    }

    /// All that its server has.
    func discover() async throws(Failure) -> RemoteDatabase {
        try await attempt(peripheral.address.text) { [peripheral] () throws(BLEError) in
            try await peripheral.discover()
        }
    }

    /// The attributes that paths stand for. Handles are taken as they are; only other paths need to know
    /// what the server has.
    func resolve(_ texts: [String]) async throws(Failure) -> [RemoteAttribute] {
        let paths = try ConnectedDevice.paths(texts)
        let database = try await discover()
        return try paths.map { path throws(Failure) in
            if let found = database.attribute(path) { return found }
            throw Failure(
                .notFound, "\(path)", "\(peripheral.address.text) has no such attribute",
                hint: "bletool gatt \(peripheral.address) tree shows what it has")
        }
    }

    /// The paths that arguments spell.
    static func paths(_ texts: [String]) throws(Failure) -> [AttributePath] {
        try texts.map { text throws(Failure) in
            try reading("attribute") { () throws(BadInput) in try AttributePath(text: text, names: Names.uuid)
            }
        }
    }
}

/// An attribute with a value: a characteristic's, or a descriptor.
struct RemoteAttribute: Sendable {
    /// The handle of the value.
    var handle: AttributeHandle
    /// The type; nil for a handle that discovery did not show.
    var uuid: BluetoothUUID?
    /// The characteristic that it is, or belongs to.
    var characteristic: RemoteCharacteristic?
    /// Whether it is the characteristic's own value.
    var isValue = true
}

extension RemoteDatabase {
    /// The attribute that a path stands for: the first match. A handle need not have been discovered.
    func attribute(_ path: AttributePath) -> RemoteAttribute? {
        let all = services.flatMap { service in service.characteristics.map { (service.uuid, $0) } }
        switch path {
        case .handle(let handle):
            for (_, characteristic) in all {
                if characteristic.valueHandle == handle { return RemoteAttribute(characteristic) }
                for descriptor in characteristic.descriptors where descriptor.handle == handle {
                    return RemoteAttribute(descriptor, of: characteristic)
                }
            }
            return RemoteAttribute(handle: handle)
        case .uuids(let service, let uuid, let descriptor):
            let matches = all.filter { (service == nil || service == $0.0) && $0.1.uuid == uuid }.map(\.1)
            guard let wanted = descriptor else { return matches.first.map { RemoteAttribute($0) } }
            for characteristic in matches {
                for found in characteristic.descriptors where found.uuid == wanted {
                    return RemoteAttribute(found, of: characteristic)
                }
            }
            return nil
        }
    }
}

extension RemoteAttribute {
    fileprivate init(_ characteristic: RemoteCharacteristic) {
        self.init(
            handle: characteristic.valueHandle, uuid: characteristic.uuid, characteristic: characteristic)
    }

    fileprivate init(_ descriptor: RemoteDescriptor, of characteristic: RemoteCharacteristic) {
        self.init(
            handle: descriptor.handle, uuid: descriptor.uuid, characteristic: characteristic, isValue: false)
    }
}
