import BLECore
import GATTServer
import HCISocket
import SMP
import SystemPackage
import Testing

@testable import BLE

/// Reports of bonds: a bond is on the disk before it is reported to a program.
struct BondReportTests {
    private let folder: StateFolder
    /// The error with which each disk step fails; nil when steps succeed.
    private let refusal = Lock<Errno?>(nil)

    init() throws { folder = try StateFolder() }

    private func open() async throws(BLEError) -> BondStore {
        try await BondStore.open(
            folder.path,
            Disk { [refusal] _ throws(Errno) in
                if let error = refusal.withLock({ $0 }) { throw error }
            }, on: nil)
    }

    /// Returns the reports of the security of a link whose central pairs, and calls `body` with each
    /// `.security` event.
    private func reports(
        _ bonds: BondStore, _ body: @escaping @Sendable (LinkSecurity) async throws -> Void = { _ in }
    ) async throws -> [LinkSecurity] {
        let shown = Lock<[LinkSecurity]>([])
        try await PairedHosts.run { server, _ in
            server.bonds = bonds
        } _: { hosts in
            let events = PeripheralManager(hosts.server).events()
            let device = try await hosts.connect()
            try await device.pair()
            // A change of the connection parameters is reported with the link's security.
            var parameters = ConnectionParameters()
            parameters.latency = 3
            _ = try await device.connection.setParameters(parameters)
            let leaving = Task(executorPreference: hosts.server.loop) {
                _ = await hosts.server.loop.sleep(for: .seconds(5))
                await device.disconnect()
            }
            for try await event in events {
                switch event {
                case .security(_, let security):
                    shown.withLock { $0.append(security) }
                    try await body(security)
                case .parameters(_, let parameters): shown.withLock { $0.append(parameters.security) }
                default: break
                }
                if case .disconnected = event { break }
            }
            await leaving.value
        }
        return shown.withLock { $0 }
    }

    @Test func bondIsReportedOnceStored() async throws {
        let last = try await reports(try await open()) { [folder] security in
            guard security.isBonded else { return }
            let onDisk = try await BondStore.open(folder.path, on: nil)
            #expect(onDisk.records().count == 1)
        }.last
        #expect(last == LinkSecurity(level: .encrypted, isBonded: true))
    }

    @Test func unstorableBondIsReportedAsUnbonded() async throws {
        let bonds = try await open()
        refusal.withLock { $0 = .noSpace }
        let shown = try await reports(bonds)
        #expect(shown.last?.level == .encrypted)
        #expect(!shown.contains { $0.isBonded })
    }

    @Test("a bond that could not be stored is stored and reported by the next request that needs it")
    func unstoredBondIsStoredByNextRequest() async throws {
        let bonds = try await open()
        try await PairedHosts.run { server, _ in
            server.bonds = bonds
        } _: { [folder, refusal] hosts in
            let manager = PeripheralManager(hosts.server)
            var events = manager.events().makeAsyncIterator()
            refusal.withLock { $0 = .noSpace }
            let device = try await hosts.connect()
            try await device.pair()
            var paired: (central: Central, security: LinkSecurity)?
            while paired?.security.level != .encrypted, let event = try await events.next() {
                if case .security(let central, let security) = event { paired = (central, security) }
            }
            let (central, security) = try #require(paired)
            #expect(!security.isBonded)
            let error = await failure { () throws(BLEError) in
                _ = try await manager.requestSecurity(of: central)
            }
            guard case .bonds? = error else { throw error ?? .cancelled }
            refusal.withLock { $0 = nil }
            let last = try await manager.requestSecurity(of: central)
            let onDisk = try await BondStore.open(folder.path, on: nil)
            #expect(last.isBonded && onDisk.records().count == 1)
            await device.disconnect()
            var reported: [Bool] = []
            while let event = try await events.next() {
                if case .security(_, let security) = event { reported.append(security.isBonded) }
                if case .disconnected = event { break }
            }
            #expect(reported == [true])
        }
    }

    @Test func removedBondIsDeletedFromDisk() async throws {
        let bonds = try await open()
        try await PairedHosts.run { server, _ in
            server.bonds = bonds
        } _: { [folder, refusal] hosts in
            let device = try await hosts.connect()
            try await device.pair()
            try await bonds.flush()
            let peer = try #require(await hosts.server.bonds.first).peer
            let wasThere = try await hosts.server.removeBond(with: peer)
            let onDisk = try await BondStore.open(folder.path, on: nil)
            #expect(wasThere && onDisk.records().isEmpty)
            let isThere = try await hosts.server.removeBond(with: peer)
            #expect(!isThere)
            try await hosts.client.removeBond(with: hosts.address)
            await device.disconnect()
            _ = try await hosts.connect().pair()
            try await bonds.flush()
            refusal.withLock { $0 = .noSpace }
            let error = await failure { () throws(BLEError) in
                _ = try await hosts.server.removeBond(with: peer)
            }
            guard case .bonds? = error else { throw error ?? .cancelled }
            // The bond is already removed in this process. The second call also removes it from the disk.
            refusal.withLock { $0 = nil }
            let isStillThere = try await hosts.server.removeBond(with: peer)
            let atLast = try await BondStore.open(folder.path, on: nil)
            #expect(!isStillThere && atLast.records().isEmpty)
        }
    }
}
