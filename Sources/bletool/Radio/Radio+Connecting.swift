import BLE
import BLECore

extension Radio {
    /// Finds a device and connects to it, each within `limit`. The default is the command's time limit or,
    /// without one, 20 s.
    func connect(
        to selector: DeviceSelector, _ options: ConnectionOptions, within limit: Duration?
    ) async throws(Failure) -> Peripheral {
        let wanted = limit ?? connectingLimit
        var options = options
        // Only the time limit ends the attempts, because a peripheral that other hosts connect to as well
        // accepts this host sooner or later.
        options.establishmentAttempts = .max
        let onCoded = options.phys == [.leCoded]
        var address = try await find(selector, within: wanted, onCoded: onCoded)
        let (time, limit) = cut(wanted)
        let end = adapter.loop.now + time
        // A device that is given by its name can have another address since it was found, and is looked for again.
        var step = if case .name = selector { Duration.seconds(5) } else { wanted }
        while true {
            let left = adapter.loop.now.duration(until: end)
            let isBonded = await adapter.isBonded(with: address)
            let isLast = isBonded || step >= left
            do throws(BLEError) {
                return try await central.connect(
                    to: address, timeout: left, establishingWithin: isLast ? nil : step, options: options)
            } catch {
                switch error {
                case .timedOut(.connecting, _): break
                case .timedOut(let stage, after: left):
                    throw Failure(.timedOut(stage, after: limit), while: address.text)
                default: throw Failure(error, while: address.text)
                }
                var late = Failure(.timedOut(.connecting, after: limit), while: address.text)
                // An address with another type is that of another device.
                if case .address = selector, !isBonded {
                    late.hint =
                        "is the device in range and connectable, and is \(address.type) right? bletool scan shows both"
                }
                let left = adapter.loop.now.duration(until: end)
                guard !isLast, left > .zero, case .success(let next) = await found(selector, left, onCoded)
                else { throw late }
                step = next == address ? step * 2 : .seconds(5)
                address = next
            }
        }
    }

    private func found(
        _ selector: DeviceSelector, _ limit: Duration, _ onCoded: Bool
    ) async -> Result<DeviceAddress, Failure> {
        do throws(Failure) {
            return .success(try await find(selector, within: limit, onCoded: onCoded))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the part of a time limit that `--timeout` leaves, and the limit to name when it is over.
    private func cut(_ limit: Duration) -> (time: Duration, named: Duration) {
        guard let left = sharedTimeLeft, left < limit else { return (limit, limit) }
        return (left, timeLimit ?? limit)
    }

    /// The default time limit for connecting.
    var connectingLimit: Duration { timeLimit ?? .seconds(20) }

    /// Returns the connectable advertisement of a device, with its scan response if it has one, or nil if
    /// none is received.
    func advertised(
        by address: DeviceAddress, within limit: Duration, onCoded: Bool
    ) async throws(Failure) -> DeviceImage.Advertised? {
        var options = DeviceSelector.address(address).scanOptions
        options.repeats = .all
        if onCoded { options.phys = [.le1M, .leCoded] }
        let received = Lock<DeviceImage.Advertised?>(nil)
        _ = try await attempt("\(address.text)") { [options] () throws(BLEError) in
            try await limited(limit) { () throws(BLEError) in
                var response: [UInt8]?
                for try await packet in central.scan(options) where !packet.isTruncated {
                    if packet.isScanResponse {
                        response = packet.data
                    } else if packet.isConnectable {
                        let advertised = DeviceImage.Advertised(
                            data: packet.data, scanResponse: nil, isExtended: !packet.isLegacy)
                        received.withLock { $0 = advertised }
                        guard packet.isScannable else { return }
                    }
                    received.withLock { $0?.scanResponse = response }
                    if received.withLock({ $0?.scanResponse != nil }) { return }
                }
            }
        }
        return received.withLock { $0 }
    }

    /// Runs `body` on a link, and then ends the link, even if `body` throws.
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

    /// Returns the address that a DEVICE refers to, which is known or found by a scan.
    func find(
        _ selector: DeviceSelector, within limit: Duration, onCoded: Bool = false
    ) async throws(Failure) -> DeviceAddress {
        if let address = await known(selector) { return address }
        let (limit, named) = cut(limit)
        var options = selector.scanOptions
        if onCoded { options.phys = [.le1M, .leCoded] }
        var wasReceived = false
        do throws(BLEError) {
            let found = try await central.first(options, within: limit) { $0.address != nil }
            if found.isConnectable, let address = found.address { return address }
            // Another of its advertisements, or another device with that name, may be connectable.
            wasReceived = true
            let other = try await central.first(options, within: min(limit, .seconds(2))) {
                $0.isConnectable && $0.address != nil
            }
            if let address = other.address { return address }
        } catch .notFound {
            // Reported below, in the words of the command line.
        } catch {
            throw Failure(error, while: "\(selector)")
        }
        if wasReceived { throw Failure(.notFound, "\(selector)", "it advertises, but is not connectable") }
        throw Failure(
            .notFound, "\(selector)", "not found within \(named.text)",
            hint: "is it advertising? bletool scan\(onCoded ? " --phy 1m,coded" : "") shows whether it is")
    }

    /// Returns the address if it is known without a scan.
    private func known(_ selector: DeviceSelector) async -> DeviceAddress? {
        switch selector {
        case .address(let address): return address
        case .untyped(let bits):
            let bonded = await adapter.bonds.map(\.peer).filter { $0.value == bits }
            let known = bonded.isEmpty ? LastScan().addresses(bits) : bonded
            return known.count == 1 ? known.first : nil
        case .name: return nil
        }
    }

    /// Returns the successive links to a DEVICE. One that is given by its name is looked for anew before each link,
    /// because its address can be another one then.
    func maintain(
        _ selector: DeviceSelector, _ options: ConnectionOptions, _ backoff: Backoff = Backoff(),
        endsWhenBondLost: Bool, report: @escaping @Sendable (MaintainEvent) -> Void
    ) async throws(BLEError) -> MaintainedConnection {
        let onCoded = options.phys == [.leCoded]
        guard case .name = selector else {
            let id = try await peripheral(selector, onCoded: onCoded)
            return central.maintain(
                id, options: options, backoff: backoff, endsWhenBondLost: endsWhenBondLost
            ) { report(MaintainEvent(device: id.address, what: $0)) }
        }
        var scan = selector.scanOptions
        if onCoded { scan.phys = [.le1M, .leCoded] }
        let device = Lock<DeviceAddress?>(nil)
        return central.maintain(
            matching: scan, options: options, backoff: backoff, endsWhenBondLost: endsWhenBondLost
        ) { event in
            var isFirst = false
            if case .found(let id) = event {
                isFirst = device.withLock { address in
                    defer { address = id.address }
                    return address == nil
                }
            }
            // What follows names the device as well.
            guard !isFirst, let address = device.withLock({ $0 }) else { return }
            report(MaintainEvent(device: address, what: event))
        }
    }

    /// Returns the device that a DEVICE refers to. Waits until it is found.
    private func peripheral(
        _ selector: DeviceSelector, onCoded: Bool
    ) async throws(BLEError) -> Peripheral.Identifier {
        if let address = await known(selector) { return await central.identifier(of: address) }
        var options = selector.scanOptions
        if onCoded { options.phys = [.le1M, .leCoded] }
        let found = try await central.first(options, within: nil) {
            $0.isConnectable && $0.id != nil
        }
        guard let id = found.id else { throw .notFound(.address) }
        return id
    }
}

extension DeviceSelector {
    /// Parses a DEVICE of the command line.
    static func parsed(_ text: String) throws(Failure) -> DeviceSelector {
        try reading("device") { () throws(BadInput) in try DeviceSelector(text: text) }
    }

    /// The scan that finds the device.
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
