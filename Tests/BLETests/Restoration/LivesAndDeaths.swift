import BLECore
import HCISocket
import VirtualController

@testable import BLE

/// Hosts on one air, of which one dies without a goodbye and comes up again with the same state folder.
struct LivesAndDeaths: Sendable {
    let bed: VirtualTestbed
    let folder: StateFolder
    /// The other host, which lives on.
    let peer: Adapter

    static func run(_ body: @escaping @Sendable (LivesAndDeaths) async throws -> Void) async throws {
        try await VirtualTestbed.run { bed in
            let folder = try StateFolder()
            try await body(LivesAndDeaths(bed: bed, folder: folder, peer: try await bed.host("peer")))
        }
    }

    private init(bed: VirtualTestbed, folder: StateFolder, peer: Adapter) {
        self.bed = bed
        self.folder = folder
        self.peer = peer
    }

    /// The host, in its next life; with an address of its own that stays the same, and perhaps with bonds on the disk.
    func rise(bonded: Bool = false) async throws -> Adapter {
        var security = SecurityOptions()
        if bonded {
            security.bonds = try await bed.loop.withClockHeld { [path = folder.path] in
                try await BondStore.open(path, on: nil)
            }
        }
        let port = await bed.port { $0.publicAddress = Self.address }
        return try await bed.host("mortal", on: port, security: security)
    }

    static let address = DeviceAddress(0x001b_dc07_3188, type: .public)

    /// The host is gone, as by SIGKILL: nothing is said on the air, and the disk has what it has. Its links end by their
    /// time limit.
    func die(_ host: Adapter) async {
        await host.shutDown(.adapter(.hungUp(.port)))
        for work in await host.endWork { await work.value }
    }

    /// A central manager of the host's that is restored by the name `gateway`.
    func manager(_ host: Adapter, _ disk: Disk = Disk()) async throws(BLEError) -> CentralManager {
        try await CentralManager(host, restoring: "gateway", in: folder.path, disk)
    }
}
