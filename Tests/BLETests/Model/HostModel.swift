import BLECore
import GATTClient
import HCISocket
import VirtualController

@testable import BLE

/// Hosts on one air whose users perform random operations, and the conditions that must hold afterwards.
/// Exactly the hosts that are to advertise are on air. A connect to a device that accepts connections has its
/// link. Both ends of a link have it and can use it. If a link ends without a request of its user, the
/// end is reported.
///
/// The model runs under virtual time.
final class HostModel: @unchecked Sendable {
    // Sendable: accessed only on the loop.

    /// An operation that has begun and may have ended.
    private final class Attempt<Value: Sendable>: @unchecked Sendable {
        // Sendable: accessed only on the loop.
        var result: Result<Value, any Error>?
        var task: Task<Void, Never>?

        /// The value of the operation; nil when it has not ended or has failed.
        var value: Value? { try? result?.get() }

        /// Waits for the end of the operation and returns its value; nil when it has failed.
        func ended() async -> Value? {
            await task?.value
            return value
        }
    }

    private final class User: @unchecked Sendable {
        // Sendable: accessed only on the loop.
        let connect: Attempt<Peripheral>
        var values: Attempt<Void>?
        var last: [UInt8]?

        init(_ connect: Attempt<Peripheral>) { self.connect = connect }
    }

    /// What a run has shown.
    struct Outcome: Sendable {
        /// The conditions that do not hold.
        let complaints: [String]
        let trace: HostTrace
    }

    private final class Scan: @unchecked Sendable {
        // Sendable: accessed only on the loop.
        var seen: Set<DeviceAddress> = []
        var stream: Attempt<Void>?
    }

    private final class Host {
        let adapter: Adapter
        let port: ScriptedPort
        let address: DeviceAddress
        var advertising: Attempt<Advertising>?
        var scan: Scan?
        var users: [Int: [User]] = [:]
        /// Whether the model has made the host's controller misbehave.
        var isAltered = false

        init(_ adapter: Adapter, _ port: ScriptedPort) async {
            (self.adapter, self.port, address) = (adapter, port, await adapter.address)
        }
    }

    /// The maximum number of centrals of a host.
    private static let links = 2

    private let bed: VirtualTestbed
    private let setting: HostSetting
    private let listener: Adapter
    private let hosts: [Host]
    private let trace: HostTrace
    /// The operations that end others or use links, with their names.
    private var others: [(name: String, attempt: Attempt<Void>)] = []
    private var complaints: [String] = []

    private init(
        _ bed: VirtualTestbed, _ setting: HostSetting, _ listener: Adapter, _ hosts: [Host],
        _ trace: HostTrace
    ) {
        (self.bed, self.setting, self.listener, self.hosts, self.trace) = (
            bed, setting, listener, hosts, trace
        )
    }

    /// Performs the steps in order, and checks the conditions that must hold afterwards.
    static func run(
        _ steps: [HostStep], hosts count: Int, _ setting: HostSetting, keepsTrace: Bool = false
    ) async throws -> Outcome {
        try await VirtualTestbed.run(conditions: .init(packetsPerConnectionEvent: setting.pace)) { bed in
            let trace = HostTrace(keepsLines: keepsTrace)
            func options(_ name: String) -> AdapterOptions {
                var options = AdapterOptions { [loop = bed.loop] direction, packet in
                    trace.note(direction, packet, of: name, at: loop.now)
                }
                options.security.bonds = BondStore { [loop = bed.loop] in
                    Timestamp(milliseconds: Int64(clamping: loop.now.nanoseconds / 1_000_000))
                }
                if setting.world == .privacy {
                    options.privacy = PrivacyOptions(isEnabled: true, addressLifetime: .seconds(60))
                }
                return options
            }
            var hosts: [Host] = []
            for number in 0..<count {
                let name = "host \(number)"
                if setting.world == .kernel, number == 0 {
                    hosts.append(try await kernelHost(on: bed, setting, options(name)))
                } else {
                    let port = ScriptedPort(await bed.port(extended: setting.isExtended), on: bed.loop)
                    hosts.append(
                        await Host(try await bed.adapter(name, on: port, options: options(name)), port))
                }
                try await hosts[number].adapter.publishSample()
            }
            let listener = try await bed.adapter(
                "listener", on: await bed.port(), options: options("listener"))
            if setting.world == .privacy { try await bond(hosts.map(\.adapter) + [listener]) }
            let model = HostModel(bed, setting, listener, hosts, trace)
            for step in steps { await model.take(step) }
            await model.settle()
            await model.check()
            await model.end()
            for host in hosts { await host.adapter.close() }
            return Outcome(complaints: model.complaints, trace: trace)
        }
    }

    /// Opens a kernel adapter, whose commands to its controller go through a script.
    private static func kernelHost(
        on bed: VirtualTestbed, _ setting: HostSetting, _ options: AdapterOptions
    ) async throws -> Host {
        let (loop, isExtended) = (bed.loop, setting.isExtended)
        let controller = await bed.air.attach(
            .init(publicAddress: FakeKernel.address, extended: isExtended ? .init() : nil))
        let kernel = try FakeKernel(controller, on: loop, extended: isExtended, isOff: false)
        let opened = Lock<ScriptedPort?>(nil)
        kernel.wrapping = { raw in
            let port = ScriptedPort(raw, on: loop)
            opened.withLock { $0 = port }
            return port
        }
        var options = options
        (options.loop, options.kernel, options.seed) = (loop, kernel, 0)
        let adapter = try await Adapter.open(.kernel(.index(FakeKernel.index)), options: options)
        guard let port = opened.withLock({ $0 }) else { throw BLEError.adapter(.closed) }
        return await Host(adapter, port)
    }

    /// Gives each two of the adapters a bond.
    private static func bond(_ adapters: [Adapter]) async throws {
        var lastKey: UInt128 = 0
        for (index, one) in adapters.enumerated() {
            for other in adapters[..<index] {
                lastKey += 1
                try await one.makeBond(with: await other.ownIdentity, key: lastKey)
                try await other.makeBond(with: await one.ownIdentity, key: lastKey)
            }
        }
    }
}

// MARK: - What happens

extension HostModel {
    /// Starts an operation. Its end is a line of the trace, with the error or, from `shown`, its value.
    private func begin<Value: Sendable>(
        _ name: String, shown: @escaping @Sendable (Value) -> String = { _ in "done" },
        _ body: @escaping @Sendable () async throws -> Value
    ) -> Attempt<Value> {
        let attempt = Attempt<Value>()
        attempt.task = Task(executorPreference: bed.loop) {
            do {
                let value = try await body()
                attempt.result = .success(value)
                self.note("\(name): \(shown(value))")
            } catch {
                attempt.result = .failure(error)
                self.note("\(name): \(error)")
            }
        }
        return attempt
    }

    private func note(_ line: String) { trace.note(line, of: "model", at: bed.loop.now) }

    private func doBeside(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        others.append((name, begin(name, body)))
    }

    private func take(_ step: HostStep) async {
        switch step {
        case .advertise(let number):
            let host = hosts[number]
            guard host.advertising == nil else { return }
            host.advertising = begin("\(step)") { [adapter = host.adapter] in
                try await adapter.advertise(maximumLinks: Self.links)
            }
        case .stopAdvertising(let number): stopAdvertising(hosts[number])
        case .scan(let number):
            let host = hosts[number]
            guard host.scan == nil else { return }
            var options = ScanOptions()
            options.repeats = .all
            host.scan = scan(by: host.adapter, options, "\(step)")
        case .stopScan(let number):
            hosts[number].scan?.stream?.task?.cancel()
            hosts[number].scan = nil
        case .connect(let one, let other):
            guard hosts[one].users[other, default: []].count < 2 else { return }
            let (adapter, peer) = (hosts[one].adapter, hosts[other].adapter)
            let user = User(begin("\(step)") { try await adapter.connect(to: peer, timeout: nil) })
            hosts[one].users[other, default: []].append(user)
        case .leave(let one, let other):
            guard let user = hosts[one].users[other]?.popLast() else { return }
            leave(user, "\(step)")
        case .expel(let one, let other):
            let (server, central) = (hosts[other].adapter, hosts[one].address)
            doBeside("\(step)") {
                if let central = await server.central(at: central) {
                    await PeripheralManager(server).disconnect(central)
                }
            }
        case .subscribe(let one, let other):
            guard let user = hosts[one].users[other]?.last, user.values == nil,
                let device = user.connect.value
            else { return }
            user.values = begin("\(step)") {
                for try await received in try await device.values(of: try await device.sample()) {
                    user.last = received.value
                    self.note("\(step): \(received.value.hex)")
                }
            }
        case .unsubscribe(let one, let other):
            guard let user = hosts[one].users[other]?.last else { return }
            user.values?.task?.cancel()
            user.values = nil
        case .write(let one, let other):
            guard let device = hosts[one].users[other]?.last?.connect.value else { return }
            doBeside("\(step)") { try await device.write([9], to: try await device.sample()) }
        case .pair(let one, let other):
            guard let device = hosts[one].users[other]?.last?.connect.value else { return }
            doBeside("\(step)") { try await device.pair() }
        case .fail(let number):
            hosts[number].isAltered = true
            hosts[number].port.emit(HardwareError(hardwareCode: 1).packet)
        case .separate(let one, let other):
            await bed.setRSSI(nil, between: hosts[one].adapter, and: hosts[other].adapter)
        case .reunite(let one, let other):
            await bed.setRSSI(-50, between: hosts[one].adapter, and: hosts[other].adapter)
        case .alter(let number, let command, let fault):
            // A kernel passes all events in order.
            if fault == .delay, await hosts[number].adapter.kernel != nil { return }
            hosts[number].isAltered = true
            for opcode in command.opcodes {
                hosts[number].port.script(opcode, fault.behavior(for: opcode), times: 1)
            }
        case .wait(let milliseconds): await bed.wait(.milliseconds(milliseconds))
        }
    }

    private func stopAdvertising(_ host: Host) {
        guard let advertising = host.advertising else { return }
        host.advertising = nil
        if let begun = advertising.value {
            doBeside("stop") { await begun.stop() }
        } else {
            advertising.task?.cancel()
            doBeside("stop") { await advertising.ended()?.stop() }
        }
    }

    private func leave(_ user: User, _ name: String) {
        if let device = user.connect.value {
            doBeside(name) { await device.disconnect() }
        } else {
            user.connect.task?.cancel()
            doBeside(name) { await user.connect.ended()?.disconnect() }
        }
    }

    private func scan(by adapter: Adapter, _ options: ScanOptions, _ name: String) -> Scan {
        let scan = Scan()
        scan.stream = begin(name) {
            for try await found in CentralManager(adapter).scan(options) {
                if let address = found.identity ?? found.address { scan.seen.insert(address) }
                self.note(
                    "\(name): \(found.address?.description ?? "-") \(found.name ?? "-") \(found.rssi ?? 0)")
            }
        }
        return scan
    }
}

// MARK: - What must hold

extension HostModel {
    /// Ends all faults and separations, and waits for three minutes.
    private func settle() async {
        for host in hosts { host.port.removeRules() }
        // A controller that is being reset has no address by which the air knows it.
        await bed.wait(.seconds(10))
        for one in hosts.indices {
            for other in hosts.indices where other > one {
                await bed.setRSSI(-50, between: hosts[one].adapter, and: hosts[other].adapter)
            }
        }
        await bed.wait(.seconds(180))
    }

    private func expect(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds { complaints.append(complaint()) }
    }

    private func check() async {
        for (name, attempt) in others { expect(attempt.result != nil, "\(name) has not ended") }
        let onAir = await heardAdvertisers()
        for (number, host) in hosts.enumerated() {
            let links = await host.adapter.modelLinks
            let centrals = links.count { $0.role == .peripheral }
            expect(
                onAir.contains(host.address) == (isAdvertising(number, centrals) && centrals < Self.links),
                "host \(number) is\(onAir.contains(host.address) ? "" : " not") on air, with \(centrals) centrals"
            )
            for link in links { await check(link, of: number) }
            for (other, users) in host.users.sorted(by: { $0.key < $1.key }) {
                for user in users { await check(user, of: number, to: other, onAir) }
            }
            check(host.scan, of: number, onAir.subtracting([host.address]))
        }
    }

    /// Returns whether a host is to be on air: its advertisement has begun, and no end of it was reported.
    private func isAdvertising(_ number: Int, _ centrals: Int) -> Bool {
        guard let advertising = hosts[number].advertising else { return false }
        switch advertising.result {
        case nil:
            expect(centrals >= Self.links, "host \(number) has not begun to advertise")
            return false
        case .failure(let error):
            expect(hosts[number].isAltered, "host \(number) does not advertise: \(error)")
            return false
        case .success(let advertising):
            guard let end = advertising.record.end else { return true }
            expect(hosts[number].isAltered, "host \(number) advertises no more: \(end)")
            return false
        }
    }

    private func heardAdvertisers() async -> Set<DeviceAddress> {
        var options = ScanOptions()
        options.repeats = .all
        let scan = scan(by: listener, options, "listener")
        for host in hosts { host.scan?.seen = [] }
        await bed.wait(.seconds(15))
        scan.stream?.task?.cancel()
        await scan.stream?.task?.value
        return scan.seen
    }

    private func check(_ link: Adapter.ModelLink, of number: Int) async {
        guard let other = hosts.firstIndex(where: { $0.address == link.peer }) else {
            return complaints.append("host \(number) has a link to \(link.peer)")
        }
        let isMirrored = await hosts[other].adapter.modelLinks.contains {
            $0.peer == hosts[number].address && $0.role != link.role
        }
        expect(isMirrored, "host \(other) has not the link that \(number) has to it as \(link.role)")
        if link.role == .central {
            let users = hosts[number].users[other, default: []]
            expect(!users.isEmpty, "host \(number) keeps a link to \(other) that is of no use")
        }
    }

    private func check(
        _ user: User, of number: Int, to other: Int, _ onAir: Set<DeviceAddress>
    ) async {
        let name = "host \(number)"
        let device: Peripheral
        switch user.connect.result {
        case nil:
            return expect(
                !onAir.contains(hosts[other].address), "\(name) still connects to \(other), which is on air")
        // The link ended before it was ready.
        case .failure(BLEError.disconnected): return
        // A pairing ended before both hosts had the bond.
        case .failure(BLEError.bondLost) where setting.pairs: return
        case .failure(let error):
            return expect(
                hosts[number].isAltered || hosts[other].isAltered, "\(name) has no link to \(other): \(error)"
            )
        case .success(let peripheral): device = peripheral
        }
        guard await hosts[number].adapter.modelLinks.contains(where: { $0.peer == hosts[other].address })
        else {
            let end = begin("end") { try await device.disconnection() }
            await bed.wait(.milliseconds(1))
            end.task?.cancel()
            expect(end.result != nil, "\(name) does not report that its link to \(other) has ended")
            return expect(user.values.map { $0.result != nil } ?? true, "\(name) still waits for values")
        }
        // The device may belong to an earlier link.
        guard await device.state == .connected else { return }
        await use(device, user, "\(name) and \(other)", hosts[other].adapter)
    }

    private func use(_ device: Peripheral, _ user: User, _ name: String, _ server: Adapter) async {
        let round = begin("round", shown: \.hex) {
            let value = try await device.sample()
            try await device.write([1], to: value)
            return try await device.read(value)
        }
        let manager = PeripheralManager(server)
        await bed.wait(.seconds(10))
        switch round.result {
        case nil: complaints.append("\(name): a read does not end")
        case .success(let value): expect(value == [1], "\(name): \(value) was read")
        case .failure(let error): complaints.append("\(name): \(error)")
        }
        guard let values = user.values, let handle = await manager.valueHandle(of: Sample.value) else {
            return
        }
        expect(values.result == nil, "\(name): the values have ended: \(values.result.debugDescription)")
        let update = begin("update") { _ = try await manager.update(handle, to: [77]) }
        await bed.wait(.seconds(5))
        expect(update.result != nil, "\(name): an update does not end")
        expect(user.last == [77], "\(name): no value comes")
    }

    private func check(_ scan: Scan?, of number: Int, _ onAir: Set<DeviceAddress>) {
        guard let scan else { return }
        guard let end = scan.stream?.result else {
            return expect(
                onAir.isSubset(of: scan.seen), "host \(number) does not find \(onAir.subtracting(scan.seen))")
        }
        expect(hosts[number].isAltered, "the scan of host \(number) has ended: \(end)")
    }

    /// Ends the operations of all users, and checks that no advertisement and no link remains.
    private func end() async {
        for (number, host) in hosts.enumerated() {
            stopAdvertising(host)
            await take(.stopScan(number))
            for (other, users) in host.users.sorted(by: { $0.key < $1.key }) {
                for _ in users { await take(.leave(number, from: other)) }
            }
        }
        await bed.wait(.seconds(60))
        for (name, attempt) in others { expect(attempt.result != nil, "\(name) has not ended at the end") }
        let onAir = await heardAdvertisers()
        expect(onAir.isEmpty, "\(onAir) are on air at the end")
        for (number, host) in hosts.enumerated() {
            let links = await host.adapter.modelLinks
            expect(links.isEmpty, "host \(number) has links at the end: \(links)")
        }
    }
}

extension Adapter {
    /// A link as the model compares it.
    fileprivate struct ModelLink: Sendable {
        let peer: DeviceAddress
        let role: LinkRole
    }

    fileprivate var modelLinks: [ModelLink] { links.map { ModelLink(peer: $0.identity, role: $0.role) } }

    fileprivate var ownIdentity: LocalIdentity { localIdentity }

    /// Makes the bond of a pairing with LE Secure Connections.
    fileprivate func makeBond(with peer: LocalIdentity, key: UInt128) throws {
        var bond = Bond(
            with: peer.address, as: identity,
            PairingStrength(isAuthenticated: true, isSecureConnections: true))
        let key = LongTermKey(key, ediv: 0, random: 0)
        (bond.centralKey, bond.peripheralKey, bond.peerIdentityKey) = (key, key, peer.identityKey)
        _ = try security.options.bonds.insert(bond)
    }

    fileprivate func central(at address: DeviceAddress) -> Central? {
        links.first { $0.identity == address && $0.role == .peripheral }.map { Central($0) }
    }
}
