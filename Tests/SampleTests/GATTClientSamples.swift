import BLE
import GATTClient

/// Samples of the module GATTClient.
struct GATTClientSamples {
    func remember(
        _ discovered: RemoteDatabase, of peer: DeviceAddress, hash: [UInt8], cache: inout DatabaseCache
    ) -> RemoteDatabase {
        // Sources/GATTClient/Cache/DatabaseCache.swift
        if let known = cache.current(of: peer, hash: hash) { return known }
        let found = cache.keep(CachedDatabase(discovered), of: peer)
        // .
        return found
    }

    func split(firmware: [UInt8], send: (ArraySlice<UInt8>) -> Void) {
        // Sources/GATTClient/Chunks/ValueChunks.swift
        var chunks = ValueChunks(firmware, size: 20, credits: 4)
        while let part = chunks.next() { send(part) }  // 4 parts
        chunks.grant(2)
        // .
    }

    func discover(peripheral: Peripheral) async throws {
        // Sources/BLE/Central/Peripheral.swift
        let services = try await peripheral.run(DiscoverServices.secondary)
        // .
        handle(services)
    }

    /// Carries requests and returns their responses.
    protocol Bearer {
        var mtu: ATTMTU { get }
        func transact(_ request: ATTRequest) async -> ATTResponse
    }

    func run<Procedure: GATTProcedure>(
        _ procedure: inout Procedure, over bearer: some Bearer
    ) async throws -> Procedure.Output {
        // Sources/GATTClient/GATTProcedure.swift
        while true {
            switch try procedure.next(mtu: bearer.mtu.octets) {
            case .ask(let request): try procedure.receive(await bearer.transact(request))
            case .done(let output): return output
            }
        }
        // .
    }

    func hold(
        for subscriber: SubscriptionID, in held: inout PendingConfirmations, bearer: inout ATTBearer,
        now: Instant
    ) {
        // Sources/GATTClient/Subscriptions/PendingConfirmations.swift
        let number = held.hold(for: [subscriber], at: now)
        if held.taken(number, by: subscriber) { bearer.confirm() }
        for _ in 0..<held.expire(at: now) { bearer.confirm() }
        // .
    }
}
