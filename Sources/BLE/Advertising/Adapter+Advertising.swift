import BLECore
import HCI
import HCISocket
import Logging

/// The callers that wait for advertisements.
extension Adapter {
    /// Whether an advertisement has begun and not ended.
    var isAdvertising: Bool { advertising.isActive }

    /// Starts an advertisement, which is on air until `stopAdvertising` while fewer than `maximumLinks`
    /// centrals are connected. Returns when the first packets are on air.
    func startAdvertising(
        _ request: AdvertisingRequest, maximumLinks: Int
    ) async throws(BLEError) -> AdvertisingRecord {
        var record = AdvertisingRecord(AdvertisingID(number: 0))
        try await waits.wait(in: self) { () throws(BLEError) in
            if let refusal { throw refusal }
            let surroundings = surroundings
            let id = try radio.advertise(
                request, maximumLinks: maximumLinks, under: surroundings, common)
            takeName(of: request)
            record = advertising.begin(id)
            return .pending(.advertisement(id))
        } then: {
            settle()
        }
        return record
    }

    /// Replaces the data and parameters of a running advertisement.
    func updateAdvertising(
        _ record: AdvertisingRecord, to request: AdvertisingRequest
    ) async throws(BLEError) {
        try await waits.wait(in: self) { () throws(BLEError) in
            if let end { throw end }
            let surroundings = surroundings
            let update = try radio.update(record.id, to: request, under: surroundings, common)
            takeName(of: request)
            return .pending(.advertisingUpdate(update))
        } then: {
            settle()
        }
    }

    /// Returns the transmit power that the controller has chosen, in dBm; nil when it does not report it.
    func power(of record: AdvertisingRecord) -> Int8? { record.power }

    /// Waits until the advertisement ends, and returns why.
    func advertisingEnded(_ record: AdvertisingRecord) async throws(BLEError) -> AdvertisingEnd {
        try await waits.wait(in: self) { () throws(BLEError) in
            if let end = record.end { return .done(try end.get()) }
            return .pending(.advertisingEnd(record.id, number: nextNumber()))
        }
    }

    /// Takes the advertisement off the air. Returns when that is done, or when the controller does not
    /// answer.
    func stopAdvertising(_ record: AdvertisingRecord) async {
        await uncancelled { await $0.takeOffAir(record.id) }
    }

    private func takeOffAir(_ id: AdvertisingID) async {
        do throws(BLEError) {
            try await waits.wait(in: self) { () throws(BLEError) in
                if let end { throw end }
                radio.stop(id)
                return .pending(.offAir(id, number: nextNumber()))
            } then: {
                settle()
            }
        } catch {
            log.debug("the adapter ended before its advertising: \(error)")
        }
    }

    /// Takes all advertisements off the air.
    func stopAllAdvertising() {
        radio.endAdvertising(.success(.stopped))
        settle()
    }

    /// Ends all advertisements because the adapter ends.
    func endAdvertising(_ reason: BLEError) {
        radio.endAdvertising(.failure(reason))
        drainRadio()
        waits.end(all: .offAir, .failure(reason))
        advertising.giveBackSets(but: [])
    }

    /// The number of connected centrals. The raw socket reports the kernel's links before their sockets
    /// arrive.
    var connectedCentrals: Int {
        max(links.count { $0.role == .peripheral }, kernelLinks.peripheralCount)
    }

    /// Whether one more advertisement would be refused.
    var hasAllSetsInUse: Bool {
        let surroundings = surroundings
        return radio.hasAllSetsInUse(under: surroundings, common)
    }

    func handle(_ event: Advertiser.Event) {
        switch event {
        case .started(let id): waits.end(.advertisement(id), .success(()))
        case .power(let id, let power): advertising.notePower(power, of: id)
        case .updated(let id, let result): waits.end(.advertisingUpdate(id), result)
        case .ended(let id, let result):
            advertising.finish(id, result)
            // A caller that still waits for the start cannot have stopped the advertisement: closing the adapter did.
            waits.end(
                .advertisement(id),
                result == .success(.stopped) ? .failure(.adapter(.closed)) : result.map { _ in })
            waits.end(all: .ends(of: id), result)
        case .offAir(let id): waits.end(all: .offAir(id), .success(()))
        case .changed, .log, .warning: break
        }
    }

    // MARK: Ownership of sets

    /// Claims a set of a kernel adapter for this process, so that other processes that advertise with this
    /// library do not use it. Returns false when another process has claimed it. A claim that fails with an
    /// error is no reason not to advertise.
    func claim(_ set: AdvertisingHandle) -> Bool {
        guard let kernel, !advertising.hasClaim(on: set) else { return true }
        do throws(PortError) {
            let name = "bletool/hci\(kernel.index)/advertising/\(set.rawValue.hex)"
            guard let claim = try kernel.kernel.claim(name) else { return false }
            advertising.take(claim, on: set)
        } catch {
            log.info("\(error)")
        }
        return true
    }
}
