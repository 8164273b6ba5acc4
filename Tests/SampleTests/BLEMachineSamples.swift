@testable import BLE

/// Samples of the machines in the module BLE, which have no I/O.
struct BLEMachineSamples {
    let now: Instant
    let answer: CommandAnswer
    let submit: (MachineCommand) -> Void

    func advertise(
        _ advertiser: inout Advertiser, request: AdvertisingRequest, conditions: Advertiser.Conditions,
        claim: (AdvertisingHandle) -> Bool
    ) throws {
        // Sources/BLE/Host/Radio/Advertiser.swift
        let id = try advertiser.advertise(request, maximumLinks: 1, under: conditions)
        if let command = advertiser.nextCommand(under: conditions) { submit(command) }
        if let set = advertiser.wantedSet { advertiser.claimed(set, isOurs: claim(set)) }
        advertiser.answered(answer, under: conditions)
        while let event = advertiser.nextEvent() { handle(event) }
        // Run `expire` at `deadline`.
        // .
        handle(id)
    }

    func connect(
        _ initiator: inout Initiator, device: DeviceAddress, conditions: Initiator.Conditions,
        acceptList: inout AcceptList, connecting: ConnectState, event: LEConnectionComplete
    ) {
        // Sources/BLE/Host/Radio/Initiator.swift
        initiator.add(device)
        if let command = initiator.nextCommand(
            under: conditions, &acceptList, for: { connecting.requests(for: $0) })
        {
            submit(command)
        }
        initiator.answered(answer, under: conditions, &acceptList)
        let connected = initiator.connected { $0 == event.peer.deviceAddress }
        while let event = initiator.nextEvent() { handle(event) }
        // Run `expire` at `deadline`.
        // .
        handle(connected)
    }

    func settle(
        _ radio: inout Radio, options: ScanOptions, surroundings: Radio.Surroundings, common: inout Common
    ) {
        func handle(_ output: Radio.Output) {}
        // Sources/BLE/Host/Radio/Radio.swift
        let id = radio.scan(options, at: now)
        while let output = radio.next(under: surroundings, &common) { handle(output) }
        radio.answered(answer, to: .scanner, under: surroundings, common)
        while let output = radio.next(under: surroundings, &common) { handle(output) }
        // Run `expire` at `deadline`.
        // .
        radio.end(id, at: now)
    }

    func end(_ ending: inout LinkEnding, conditions: LinkEnding.Conditions) {
        // Sources/BLE/Link/LinkEnding.swift
        guard ending.begin(.userTerminated) else { return }
        // In the loop's next turn, so that what was left in this one ends on the link too:
        ending.proceed(at: now)
        // Whenever something has left or was answered, and at `deadline`:
        ending.advance(under: conditions)
        while let event = ending.nextEvent() { handle(event) }
        // .
    }

    func review(
        _ review: inout LossReview, flights: [LossReview.Flight], answer: CommandAnswer, link: LinkID
    ) {
        // Sources/BLE/Link/LossReview.swift
        review.packetsWereLost(on: flights, at: now)
        if let link = review.nextQuestion() { handle(link) }
        if review.answered(answer, of: link) { handle(link) }
        // At `deadline`:
        for stalled in review.expire(at: now, flights) { handle(stalled) }
        // .
    }

    func ask(_ procedures: inout LinkProcedures, number: UInt64, command: MachineCommand) {
        // Sources/BLE/Link/LinkProcedures.swift
        procedures.ask(number, for: .phys, by: .command(command))
        while let event = procedures.nextEvent(at: now) { handle(event) }
        procedures.answered(.done([]), to: command, of: number)
        procedures.ended(.phys, .success(()))
        // Run `expire` at `deadline`.
        // .
    }

    func hide(
        _ privacy: inout Privacy, records: [BondRecord], key: UInt128, makeAddress: () -> DeviceAddress,
        execute: (MachineCommand) async -> CommandAnswer, pauseRadio: () -> Void
    ) async throws {
        // Sources/BLE/Host/Radio/Privacy.swift
        privacy.controllerWasReset(listSize: 8, at: now)
        privacy.setPeers(records, localKey: key, knowsHidden: true)
        while let command = try privacy.nextSetupCommand(at: now, newAddress: makeAddress) {
            privacy.answered(await execute(command), to: privacy.lastCommand, at: now)
        }
        // From then on:
        if privacy.pauseIfDue(isSearching: false, at: now) { pauseRadio() }
        if let command = privacy.nextCommand(
            radio: .quiet, isSearching: false, at: now, newAddress: makeAddress)
        {
            submit(command)
        }
        privacy.answered(answer, to: privacy.lastCommand, at: now)
        while let event = privacy.nextEvent() { handle(event) }
        // .
    }

    func recover(
        _ recovery: inout Recovery, from fault: AdapterFault, attempt: Recovery.Attempt,
        bringUp: () async throws -> Void
    ) async throws {
        // Sources/BLE/Recovery/Recovery.swift
        repeat {
            recovery.beginSetUp()
            try await bringUp()
        } while try !recovery.setUpEnded(at: now)
        // From then on:
        recovery.handle(fault, links: 2, at: now)
        recovery.linksEnded(at: now)
        recovery.received(at: now)
        // Run `expire` at `deadline`.
        recovery.begun(attempt)
        recovery.ended(attempt, .done(wasReset: true), links: 0, at: now)
        while let event = recovery.nextEvent() { handle(event) }
        // .
    }

    func follow(
        _ train: PeriodicSynchronizer.Train, _ synchronizer: inout PeriodicSynchronizer,
        options: PeriodicSyncOptions, event: LEPeriodicAdvertisingSyncEstablished,
        report: LEPeriodicAdvertisingReport
    ) {
        // Sources/BLE/Host/Radio/PeriodicSynchronizer.swift
        let id = synchronizer.follow(train, options)
        if let command = synchronizer.nextCommand(isPaused: false, at: now) { submit(command) }
        synchronizer.answered(answer, isRecovering: false, at: now)
        synchronizer.established(event)
        synchronizer.receive(report, at: now) { id, advertisement in print(id, advertisement) }
        while let event = synchronizer.nextEvent() { handle(event) }
        // .
        handle(id)
    }

    func scan(
        _ scanner: inout Scanner, options: ScanOptions, conditions: Scanner.Conditions,
        acceptList: inout AcceptList, packet: Span<UInt8>
    ) throws {
        func hiddenPeer(of report: AdvertisingReport) -> DeviceAddress? { nil }
        // Sources/BLE/Host/Radio/Scanner.swift
        let id = scanner.scan(options, at: now)
        if let command = scanner.nextCommand(under: conditions, &acceptList) { submit(command) }
        scanner.answered(answer, under: conditions, &acceptList)
        while let event = scanner.nextEvent() { handle(event) }
        let isReport = try scanner.receive(packet, at: now) {
            hiddenPeer(of: $0)
        } deliver: { id, advertisement in
            print(id, advertisement)
        }
        // .
        handle((id, isReport))
    }

    func protect(
        _ protection: inout LinkProtection, key: LongTermKey, bond: Bond, bonds: BondStore
    ) {
        // Sources/BLE/Security/LinkProtection.swift
        // A pairing has a key.
        protection.offer(key)
        guard protection.give(key, of: .pairing) else { return }
        // The controller uses it.
        protection.encryptionChanged(isOn: true, isRefresh: false, isPairing: true) {
            bonds.record($0.id)?.bond == $0
        }
        protection.paired(bond, isBonding: true, isTaken: { bonds.record($0.id) != nil })
        while let event = protection.nextEvent() { handle(event) }
        // .
    }
}
