import BLE
import BLECore
import Synchronization
import Testing

/// The code of the article "Pair devices".
@Suite(.timeLimit(.minutes(10))) struct PairingArticleTests {
    /// The side that shows a passkey.
    struct Display: PairingDelegate {
        let ioCapability = IOCapability.displayOnly
        let show: @Sendable (String) -> Void

        func display(_ passkey: Passkey, for peer: DeviceAddress) async { show("\(passkey)") }
    }

    /// The side whose user enters the passkey.
    struct Keypad: PairingDelegate {
        let ioCapability = IOCapability.keyboardOnly
        let read: @Sendable () async -> String

        func enterPasskey(for peer: DeviceAddress) async -> Passkey? { Passkey(await read()) }
    }

    /// A host without a user.
    struct Headless: PairingDelegate {
        func authorizePairing(with peer: DeviceAddress, replacing bond: Bond?) async -> Bool {
            bond?.strength.isAuthenticated != true
        }
    }

    @Test func headlessHostReplacesOpenBonds() async throws {
        try await VirtualTestbed.run { bed in
            var options = AdapterOptions()
            options.security.delegate = Headless()
            let lock = PeripheralManager(try await bed.adapter("lock", options: options))
            try await serve(lock)
            _ = try await lock.advertise(
                AdvertisingRequest(try AdvertisingPlan(AdvertisingContent(), kind: .connectable)))
            let phone = try await bed.adapter("phone")
            let address = await lock.adapter.address
            for _ in 0..<2 {
                try await CentralManager(phone).withConnection(to: address) { device in
                    let security = try await device.pair()
                    #expect(security.isBonded)
                }
                try await phone.removeBond(with: address)
            }
            #expect(await lock.adapter.bonds.count == 1)
        }
    }

    @Test func lockIsPairedWithPasskey() async throws {
        try await VirtualTestbed.run { bed in
            let shown = Mutex("")
            let show = { @Sendable (text: String) in shown.withLock { $0 = text } }

            var options = AdapterOptions()
            options.security.delegate = Display(show: show)
            let lock = PeripheralManager(try await bed.adapter("lock", options: options))
            try await serve(lock)
            var content = AdvertisingContent()
            content.name = "Lock"
            try await lock.withAdvertising(content) {
                var options = AdapterOptions()
                options.security.delegate = Keypad(read: { shown.withLock { $0 } })
                let central = CentralManager(try await bed.adapter("phone", options: options))
                let found = try await central.first(within: .seconds(5)) { $0.name == "Lock" }
                try await central.withConnection(to: try #require(found.address)) { device in
                    try await use(device)
                    #expect(try await device.security.isBonded)
                }
            }
        }
    }

    private func serve(_ lock: PeripheralManager) async throws {
        try await lock.publish([
            GATTService(
                0x9d2a_0010_5c41_4e2b_8a3f_1f0c_6f2d_7b10,
                characteristics: [
                    GATTCharacteristic(
                        0x9d2a_0011_5c41_4e2b_8a3f_1f0c_6f2d_7b10, properties: [.read, .write],
                        permissions: AttributePermissions(read: .encrypted, write: .authenticated),
                        value: .stored([0]))
                ])
        ])
    }

    private func use(_ device: Peripheral) async throws {
        let bolt = try await device.characteristic(uuid: 0x9d2a_0011_5c41_4e2b_8a3f_1f0c_6f2d_7b10)
        do throws(BLEError) {
            let security = try await device.pair(.authenticated)
            print("level \(security.level), bonded: \(security.isBonded)")
        } catch .pairing(let failure) {
            print("not paired: \(failure)")
        }
        try await device.write([1], to: bolt)
    }

    /// Checks the output of the article's code.
    private func print(_ line: String) { #expect(line.hasSuffix("bonded: true")) }
}
