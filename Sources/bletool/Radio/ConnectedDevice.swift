import ATT
import BLE
import BLECore
import GATTClient
import HCISocket

/// A connected device that a verb of `gatt` uses.
struct ConnectedDevice: Sendable {
    let peripheral: Peripheral
    var radio: Radio
    /// The output of the command.
    var console: Console
    /// The function that receives each value that is read or received.
    var onValue: @Sendable (AttributeHandle, [UInt8]) -> Void = { _, _ in }
    /// The faults of the device's database that were shown.
    private let shownFaults = SharedFaults()

    private final class SharedFaults: Sendable {
        let faults = Lock<Set<DatabaseFault>>([])
    }

    init(peripheral: Peripheral, radio: Radio) {
        self.peripheral = peripheral
        self.radio = radio
        console = radio.console
    }

    /// Runs an operation within the command's time limit.
    func attempt<Result: Sendable>(
        _ what: String, _ body: @escaping @Sendable () async throws(BLEError) -> Result
    ) async throws(Failure) -> Result {
        try await radio.attempt(what) { () throws(BLEError) in
            let late = BLEError.timedOut(.operation, after: radio.timeLimit ?? .zero)
            // An operation that begins could have an effect although its time is over.
            if radio.timeLeft == .zero { throw late }
            return try await withDeadline(radio.timeLeft, on: radio.adapter.loop, orThrow: late, body)
        }
    }

    /// Discovers all services, characteristics and descriptors of the device. What is wrong with them is shown once,
    /// on stderr.
    func discover() async throws(Failure) -> RemoteDatabase {
        let database = try await attempt(peripheral.address.text) { [peripheral] () throws(BLEError) in
            try await peripheral.discover()
        }
        for fault in database.faults where shownFaults.faults.withLock({ $0.insert(fault).inserted }) {
            console.note("\(fault)")
        }
        return database
    }

    /// Returns the attributes that paths refer to. Handles are used as they are, so that only other paths
    /// require discovery. If `describing`, handles are also returned with their characteristics. If `certainly`, a path
    /// that refers to several attributes, or to one whose declaration is faulty, is an error: only a handle selects it.
    func resolve(
        _ texts: [String], describing: Bool = false, certainly: Bool = false
    ) async throws(Failure) -> [RemoteAttribute] {
        let paths = try ConnectedDevice.paths(texts)
        let handles = paths.compactMap { if case .handle(let handle) = $0 { handle } else { nil } }
        if handles.count == paths.count, !describing { return handles.map { RemoteAttribute(handle: $0) } }
        let database = try await discover()
        return try paths.map { path throws(Failure) in
            let matches = database.attributes(path)
            if certainly { try database.checkCertainty(of: matches, path) }
            if let others = matches.first?.rivals(matches.count) { console.note("\(path): \(others)") }
            if let found = matches.first { return found }
            throw database.failure(toFind: path, on: peripheral.address)
        }
    }

    /// Returns the type of an attribute. If only the handle is known, requests the type from the server.
    func uuid(of attribute: RemoteAttribute) async throws(Failure) -> BluetoothUUID? {
        if let uuid = attribute.uuid { return uuid }
        let handle = attribute.handle
        let found = try await attemptUnlessRefused("\(handle)") { [peripheral] () throws(BLEError) in
            try await peripheral.run(DiscoverDescriptors(in: AttributeRange(handle, handle)))
        }
        return found?.first?.uuid
    }

    /// As `attempt`, but returns nil for all failures except the end of the time, after which nothing else is done.
    func attemptUnlessRefused<Result: Sendable>(
        _ what: String, _ body: @escaping @Sendable () async throws(BLEError) -> Result
    ) async throws(Failure) -> Result? {
        do throws(Failure) {
            return try await attempt(what, body)
        } catch {
            if error.kind == .timeout { throw error }
            return nil
        }
    }

    /// Parses the arguments that name attributes.
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
    /// The type, or nil for a handle that discovery did not report.
    var uuid: BluetoothUUID?
    /// The characteristic whose value or descriptor this is.
    var characteristic: RemoteCharacteristic?
    /// Whether this is the characteristic's value, not a descriptor.
    var isValue = true
}

extension RemoteDatabase {
    /// Throws if the database has faults, after everything else of it was shown.
    func checkFaults(_ what: String) throws(Failure) {
        guard let first = faults.first else { return }
        let count = faults.count == 1 ? "a fault" : "\(faults.count) faults, the first of which is"
        var failure = Failure(
            faults.contains(where: \.isForSecurity) ? .security : .peer, what,
            "the device's database has \(count): \(first)")
        failure.isAfterResult = true
        throw failure
    }

    /// Throws if it is not certain which attribute a path refers to.
    fileprivate func checkCertainty(
        of matches: [RemoteAttribute], _ path: AttributePath
    ) throws(Failure) {
        guard case .uuids(let service, _, _) = path, let first = matches.first else { return }
        let handles = matches.map { "\($0.handle)" }.joined(lastBy: "or")
        if matches.count > 1 {
            throw Failure(
                .input, "\(path)", "\(matches.count) attributes match",
                hint: "\(service == nil ? "SERVICE/CHARACTERISTIC or " : "")a handle selects one: \(handles)")
        }
        guard let characteristic = first.characteristic, isFaulty(characteristic) else { return }
        throw Failure(
            .input, "\(path)", "its declaration is faulty, so that it is not certain which attribute it is",
            hint: "its handle, \(handles), is used as it is")
    }

    /// Returns the failure for a path that refers to no attribute.
    func failure(toFind path: AttributePath, on device: DeviceAddress) -> Failure {
        if case .uuids(nil, let uuid, nil) = path, services.contains(where: { $0.uuid == uuid }) {
            let characteristics = services.filter { $0.uuid == uuid }.flatMap(\.characteristics)
                .map { "\($0.uuid)" }
            return Failure(
                .notFound, "\(path)", "is a service, not a characteristic",
                hint: characteristics.isEmpty
                    ? "it has no characteristics"
                    : "its characteristics: \(characteristics.joined(lastBy: "and"))")
        }
        if let refusal = faults.first(where: \.isForSecurity) {
            return Failure(
                .security, "\(path)", "\(device.text) shows no such attribute on this link: \(refusal)",
                hint: "bletool pair \(device) secures its links")
        }
        return Failure(
            .notFound, "\(path)", "\(device.text) has no such attribute",
            hint: "bletool gatt \(device) tree shows what it has")
    }

    /// Returns the attributes that a path can refer to, in the order of their handles. A handle need not have
    /// been discovered.
    func attributes(_ path: AttributePath) -> [RemoteAttribute] {
        let all = services.flatMap { service in service.characteristics.map { (service.uuid, $0) } }
        switch path {
        case .handle(let handle):
            for (_, characteristic) in all {
                if characteristic.valueHandle == handle { return [RemoteAttribute(characteristic)] }
                for descriptor in characteristic.descriptors where descriptor.handle == handle {
                    return [RemoteAttribute(descriptor, of: characteristic)]
                }
            }
            return [RemoteAttribute(handle: handle)]
        case .uuids(let service, let uuid, let descriptor):
            let matches = all.filter { (service == nil || service == $0.0) && $0.1.uuid == uuid }.map(\.1)
            guard let descriptor else { return matches.map { RemoteAttribute($0) } }
            return matches.flatMap { characteristic in
                characteristic.descriptors.filter { $0.uuid == descriptor }
                    .map { RemoteAttribute($0, of: characteristic) }
            }
        }
    }
}

extension RemoteAttribute {
    /// Returns a note for the user if a path matches several attributes.
    fileprivate func rivals(_ count: Int) -> String? {
        guard count > 1 else { return nil }
        return
            "\(count) attributes match, and \(handle) is used; SERVICE/CHARACTERISTIC or a handle selects one"
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
