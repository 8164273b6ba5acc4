import BLE
import BLECore

extension Radio {
    /// Finds a device and connects to it, each within `limit`, the command's time limit or 20 s.
    func connect(
        to selector: DeviceSelector, _ options: ConnectionOptions, within limit: Duration?
    ) async throws(Failure) -> Peripheral {
        let limit = limit ?? timeLimit ?? .seconds(20)
        var options = options
        // The time limit ends it: a peripheral that others connect to as well hears this one sooner or later.
        options.establishmentAttempts = .max
        let address = try await find(selector, within: limit, onCoded: options.phys == [.leCoded])
        return try await attempt("\(address.text)") { [options] () throws(BLEError) in
            try await central.connect(to: address, timeout: limit, options: options)
        }
    }

    /// Does something on a link, and then ends it, however that went.
    func ending(
        _ peripheral: Peripheral, _ body: () async throws(Failure) -> Void
    ) async throws(Failure) {
        let result: Result<Void, Failure>
        do throws(Failure) {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await peripheral.disconnect()
        try result.get()
    }

    /// The address that a DEVICE stands for: known, or found by a scan.
    func find(
        _ selector: DeviceSelector, within limit: Duration, onCoded: Bool = false
    ) async throws(Failure) -> DeviceAddress {
        if case .address(let address) = selector { return address }
        if case .untyped(let bits) = selector {
            let bonded = await adapter.bonds.map(\.peer).filter { $0.value == bits }
            let known = bonded.isEmpty ? LastScan().addresses(bits) : bonded
            if let address = known.first, known.count == 1 { return address }
        }
        var options = selector.scanOptions
        if onCoded { options.phys = [.le1M, .leCoded] }
        var wasHeard = false
        do throws(BLEError) {
            let found = try await central.first(options, within: limit) { $0.address != nil }
            if found.isConnectable, let address = found.address { return address }
            // Another of its advertisements, or another device of that name, may be.
            wasHeard = true
            let other = try await central.first(options, within: min(limit, .seconds(2))) {
                $0.isConnectable && $0.address != nil
            }
            if let address = other.address { return address }
        } catch .notFound {
            // Told below, in the words of the command line.
        } catch {
            throw Failure(error, while: "\(selector)")
        }
        if wasHeard { throw Failure(.notFound, "\(selector)", "it advertises, and takes no connections") }
        throw Failure(
            .notFound, "\(selector)", "not found within \(limit.text)",
            hint: "is it advertising? bletool scan\(onCoded ? " --phy 1m,coded" : "") shows what is")
    }

    /// The device that a DEVICE stands for; waits until it is found.
    func peripheral(
        _ selector: DeviceSelector
    ) async throws(BLEError) -> Peripheral.Identifier {
        if case .address(let address) = selector { return await central.identifier(of: address) }
        let found = try await central.first(selector.scanOptions, within: nil) {
            $0.isConnectable && $0.id != nil
        }
        guard let id = found.id else { throw .notFound(.address) }
        return id
    }
}

extension DeviceSelector {
    /// What a DEVICE on the command line spells.
    static func parsed(_ text: String) throws(Failure) -> DeviceSelector {
        try reading("device") { () throws(BadInput) in try DeviceSelector(text: text) }
    }

    /// What to scan for to find it.
    var scanOptions: ScanOptions {
        var options = ScanOptions()
        switch self {
        case .address(let address): options.addresses = [AddressFilter(address)]
        case .untyped(let bits): options.addresses = [AddressFilter(bits)]
        case .name(let pattern): options.name = pattern
        }
        return options
    }
}
