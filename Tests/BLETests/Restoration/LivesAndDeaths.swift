import BLECore
import HCISocket
import SystemPackage
import VirtualController

@testable import BLE

/// Hosts on one air, of which one dies without a goodbye and comes up again with the same state folder.
struct LivesAndDeaths: Sendable {
    let bed: VirtualTestbed
    let folder: StateFolder
    /// The other host, which lives on.
    let peer: Adapter
    /// How many lives were ended by `die`.
    private let deaths = Lock(0)

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
    func rise(bonded: Bool = false, _ disk: Disk = Disk()) async throws -> Adapter {
        var security = SecurityOptions()
        if bonded {
            security.bonds = try await bed.loop.withClockHeld { [path = folder.path, disk = mortal(disk)] in
                try await BondStore.open(path, disk, on: nil)
            }
        }
        let port = await bed.port { $0.publicAddress = Self.address }
        return try await bed.host("mortal", on: port, security: security)
    }

    static let address = DeviceAddress(0x001b_dc07_3188, type: .public)

    /// Ends the process of the host, as SIGKILL does: no packet says so on the air, the links end by their time limit, and
    /// from now on nothing is written to the disk. Its files can be opened when this returns.
    func die(_ host: Adapter) async {
        deaths.withLock { $0 += 1 }
        await host.shutDown(.adapter(.hungUp(.port)))
        for work in await host.endWork { await work.value }
    }

    /// The disk as the process of this life has it: each step fails once that is killed.
    func mortal(_ disk: Disk = Disk()) -> Disk {
        let life = deaths.withLock { $0 }
        var mortal = disk
        mortal.before = { [deaths] step throws(Errno) in
            guard deaths.withLock({ $0 }) == life else { throw .ioError }
            try disk.before(step)
        }
        return mortal
    }

    /// A central manager of the host's that is restored by the name `gateway`.
    func manager(_ host: Adapter, _ disk: Disk = Disk()) async throws(BLEError) -> CentralManager {
        try await CentralManager(host, restoring: "gateway", in: folder.path, mortal(disk))
    }
}
