import BLECore
import HCISocket
import SystemPackage
import VirtualController

@testable import BLE

/// Two hosts on one air, one of which is killed and started again with the same state folder.
struct LivesAndDeaths: Sendable {
    let bed: VirtualTestbed
    let folder: StateFolder
    /// The other host, which is never killed.
    let peer: Adapter
    /// The number of calls of `die`.
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

    /// Starts the host, always with the same address, and with bonds on the disk if `bonded` is true.
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

    /// Ends the host as SIGKILL ends its process: it sends no packet, its links end by their supervision
    /// timeouts, and it writes nothing more to the disk. Its files can be opened when this returns.
    func die(_ host: Adapter) async {
        deaths.withLock { $0 += 1 }
        await host.shutDown(.adapter(.hungUp(.port)))
        for work in await host.endWork { await work.value }
    }

    /// Returns the disk of the current process. Each step fails once the process is killed.
    func mortal(_ disk: Disk = Disk()) -> Disk {
        let life = deaths.withLock { $0 }
        var mortal = disk
        mortal.before = { [deaths] step throws(Errno) in
            guard deaths.withLock({ $0 }) == life else { throw .ioError }
            try disk.before(step)
        }
        return mortal
    }

    /// Creates a central manager of the host that is restored by the name `gateway`.
    func manager(_ host: Adapter, _ disk: Disk = Disk()) async throws(BLEError) -> CentralManager {
        try await CentralManager(host, restoring: "gateway", in: folder.path, mortal(disk))
    }
}
