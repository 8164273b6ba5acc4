import BLE
import BLEAdvertising
import BLECore
import GATTClient
import GATTServer
import HCI
import HCISocket
import SMP
import VirtualController

/// Two hosts on one air. The user of each can enter the passkey that the other displays.
struct PairedHosts: Sendable {
    /// The controller of one host, and the host's privacy.
    struct Radio: Sendable {
        /// Whether the controller supports the extended commands. It then also resolves addresses.
        var isExtended = false
        var privacy = PrivacyOptions.off
        /// The events that the controller sends in place of executing a command; nil: it executes the command.
        var play: (@Sendable (HCICommandPacket) -> [HCIEventPacket]?)?
        /// Whether the controller supports encryption; otherwise it refuses to encrypt.
        var encrypts = true

        var configuration: VirtualController.Configuration {
            var configuration = VirtualController.Configuration(extended: isExtended ? .init() : nil)
            configuration.encrypts = encrypts
            return configuration
        }

        fileprivate func port(_ bed: VirtualTestbed) async -> ControlledPort {
            let port = ControlledPort(await bed.air.attach(configuration), on: bed.loop)
            port.play(play)
            return port
        }
    }

    let air: AirServer
    let server: Adapter
    let client: Adapter
    /// The port between the client and its controller.
    let clientPort: ControlledPort
    let serverUser: ScriptedUser
    let clientUser: ScriptedUser
    let address: DeviceAddress

    /// Runs `body` with a server, whose values require increasing levels of security, and a client.
    static func run(
        server serverIO: IOCapability = .noInputNoOutput, client clientIO: IOCapability = .noInputNoOutput,
        serverRadio: Radio = Radio(), clientRadio: Radio = Radio(),
        _ change: @escaping @Sendable (inout SecurityOptions, inout SecurityOptions) -> Void = { _, _ in },
        _ body: @escaping @Sendable (PairedHosts) async throws -> Void
    ) async throws {
        try await VirtualTestbed.run { bed in
            let screen = Screen()
            let users = (ScriptedUser(serverIO, screen), ScriptedUser(clientIO, screen))
            var (serverOptions, clientOptions) = (SecurityOptions(), SecurityOptions())
            (serverOptions.delegate, clientOptions.delegate) = users
            change(&serverOptions, &clientOptions)
            let server = try await bed.adapter(
                "server", on: await serverRadio.port(bed),
                options: AdapterOptions(security: serverOptions, privacy: serverRadio.privacy))
            let clientPort = await clientRadio.port(bed)
            let client = try await bed.adapter(
                "client", on: clientPort,
                options: AdapterOptions(security: clientOptions, privacy: clientRadio.privacy))
            try await PeripheralManager(server).serveSecrets()
            try await body(
                PairedHosts(
                    air: bed.air, server: server, client: client, clientPort: clientPort, serverUser: users.0,
                    clientUser: users.1,
                    address: await server.address))
        }
    }

    /// Connects the client to the server.
    func connect(
        to address: DeviceAddress? = nil, _ options: ConnectionOptions = ConnectionOptions()
    ) async throws -> Peripheral {
        try await CentralManager(client).connect(
            to: address ?? self.address, timeout: .seconds(5), options: options)
    }

    /// Connects the client to the server, and returns each side's peer.
    func connectFromBothSides(
        _ options: ConnectionOptions = ConnectionOptions()
    ) async throws -> (Peripheral, Central) {
        let events = PeripheralManager(server).events()
        let device = try await connect(to: nil, options)
        for try await event in events {
            if case .connected(let central, _) = event { return (device, central) }
        }
        throw BLEError.notFound(.device(within: nil))
    }

    /// Reads the first characteristic with this UUID.
    func read(_ uuid: BluetoothUUID, of device: Peripheral) async throws -> [UInt8] {
        guard let found = try await device.discover().characteristics(uuid).first else {
            throw BLEError.notFound(.device(within: nil))
        }
        return try await device.read(found)
    }
}

extension PeripheralManager {
    /// Publishes and advertises values that require increasing levels of security: 0xAA00 none, 0xAA01 encryption,
    /// 0xAA02 authentication, 0xAA03 LE Secure Connections. 0xAA04 accepts signed writes.
    fileprivate func serveSecrets() async throws {
        let levels: [SecurityLevel] = [.open, .encrypted, .authenticated, .secureConnections]
        try await publish([
            GATTService(
                0xaaff,
                characteristics: levels.enumerated().map { index, access in
                    GATTCharacteristic(
                        BluetoothUUID(UInt16(0xaa00 + index)), properties: [.read, .notify],
                        permissions: AttributePermissions(read: access), value: .stored([UInt8(index)]))
                } + [
                    GATTCharacteristic(
                        0xaa04, properties: [.read, .authenticatedSignedWrites], value: .stored([0]))
                ])
        ])
        var content = AdvertisingContent()
        content.name = "Secrets"
        _ = try await advertise(
            AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable)), maximumLinks: 4)
    }
}

/// The passkeys that the hosts display. Both users can read them.
final class Screen: Sendable {
    let shown = AsyncStream<Passkey>.makeStream()
}

/// A user that enters the passkey of the other host, and records the questions of its own host.
struct ScriptedUser: PairingDelegate {
    /// The input and output capability from the next link on.
    let capability: Lock<IOCapability>
    var ioCapability: IOCapability { capability.withLock { $0 } }
    let screen: Screen
    /// Whether the user compares numbers. A host without a user accepts them.
    let compares = Lock(true)
    var comparesNumbers: Bool { compares.withLock { $0 } }
    let asked = Lock<[String]>([])
    /// The user's error; nil if all answers are right.
    let slip = Lock<Slip?>(nil)
    /// Whether the user lets a bonded device that has lost its key pair again.
    let replaces = Lock(false)
    /// A handler that receives each displayed passkey, in addition to the other user.
    let shown = Lock<(@Sendable (Passkey) -> Void)?>(nil)
    /// A step that runs before a passkey is entered.
    let typing = Lock<(@Sendable () async -> Void)?>(nil)
    /// The keys that the user presses before a passkey is entered; without any, the host reports none.
    let pressed = Lock<[KeypressNotification]>([])
    /// The keys that the peer's user has pressed.
    let keys = Lock<[KeypressNotification]>([])

    enum Slip { case otherPasskey, otherNumber, noPairing }

    init(_ ioCapability: IOCapability, _ screen: Screen) {
        capability = Lock(ioCapability)
        self.screen = screen
    }

    func display(_ passkey: Passkey, for peer: DeviceAddress) async {
        asked.withLock { $0.append("display") }
        shown.withLock { $0 }?(passkey)
        screen.shown.continuation.yield(passkey)
    }

    var sendsKeypresses: Bool { !pressed.withLock { $0.isEmpty } }

    func enterPasskey(for peer: DeviceAddress, reportingTo keys: KeypressSender) async -> Passkey? {
        for key in pressed.withLock({ $0 }) { await keys.send(key) }
        return await enterPasskey(for: peer)
    }

    func enterPasskey(for peer: DeviceAddress) async -> Passkey? {
        asked.withLock { $0.append("enter") }
        await typing.withLock { $0 }?()
        // A read that is cancelled would end the stream.
        if Task.isCancelled { return nil }
        var shown = screen.shown.stream.makeAsyncIterator()
        guard let passkey = await shown.next() else { return nil }
        return slip.withLock { $0 } == .otherPasskey ? Passkey(lowestDigitsOf: passkey.value + 1) : passkey
    }

    func peerPressed(_ key: KeypressNotification, peer: DeviceAddress) async {
        keys.withLock { $0.append(key) }
    }

    func compare(_ passkey: Passkey, with peer: DeviceAddress) async -> Bool {
        asked.withLock { $0.append("compare \(passkey)") }
        return slip.withLock { $0 } != .otherNumber
    }

    func authorizePairing(with peer: DeviceAddress, isBonded: Bool) async -> Bool {
        asked.withLock { $0.append(isBonded ? "authorize again" : "authorize") }
        return (!isBonded || replaces.withLock { $0 }) && slip.withLock { $0 } != .noPairing
    }
}
