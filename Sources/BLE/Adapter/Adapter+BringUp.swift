import BLECore
import HCI
import Logging
import SMP

extension Adapter {
    /// Reads the controller's capabilities and, when this process alone uses the controller, initializes it
    /// as the specification describes: reset, event masks, buffers, defaults of new links, address (Core
    /// Specification 5.4, Vol 6, Part D, 2). Optional commands are sent only if the controller reports
    /// support for them, and the controller may still refuse them.
    func bringUp(staticAddress: DeviceAddress?) async throws(BLEError) {
        if kernel == nil { _ = try await run(Reset()) }
        try await readAbilities()
        guard kernel == nil else {
            // With the bonds' keys, the kernel identifies a peer by its identity address; otherwise by its
            // address on air.
            guard security.options.managesKernelPairing else { return }
            watchBonds()
            return radio.setPeers(common)
        }

        radio.acceptListWasReset(holding: capabilities.acceptListSize)
        if capabilities.isDualMode { try await runOptional(WriteLEHostSupport(isSupported: true)) }
        _ = try await run(SetEventMask(mask: .host))
        _ = try await run(LESetEventMask(mask: .host(capabilities.features)))
        try await readBuffers()
        try await setLinkDefaults()
        let isLasting = try await takeAddress(staticAddress)
        if common.storedIdentity?.address != identity {
            // No identity is stored for an address that is not used again.
            common.storedIdentity =
                isLasting
                ? try await security.options.bonds.identity(orNew: newIdentity()) : newIdentity()
        }
        try await setUpPrivacy()
    }

    private func newIdentity() -> LocalIdentity {
        LocalIdentity(address: identity, identityKey: .newIdentityKey(using: &common.random))
    }

    /// Reads the controller's version, features, commands and limits.
    private func readAbilities() async throws(BLEError) {
        var found = ControllerCapabilities()
        found.usesExtendedCommands = usesExtendedCommands
        found.version = try await run(ReadLocalVersionInformation())
        found.commands = try await run(ReadLocalSupportedCommands()).value
        // `runOptional` sends only the commands that are listed here.
        common.controller.commands = found.commands
        found.classicFeatures = try await runOptional(ReadLocalSupportedFeatures())?.value
        found.features = try await run(LEReadLocalSupportedFeatures()).value
        found.acceptListSize = Int(try await runOptional(LEReadFilterAcceptListSize())?.value ?? 0)
        found.resolvingListSize = Int(try await runOptional(LEReadResolvingListSize())?.value ?? 0)
        found.maximumDataLength = try await runOptional(LEReadMaximumDataLength())
        found.transmitPower = try await runOptional(LEReadTransmitPower())
        // These belong to the extended commands, after which the controller refuses the legacy ones.
        if found.hasExtendedFamily {
            if let sets = try await runOptional(LEReadNumberOfSupportedAdvertisingSets())?.value {
                found.numberOfAdvertisingSets = max(Int(sets), 1)
            }
            if let octets = try await runOptional(LEReadMaximumAdvertisingDataLength())?.value {
                found.maximumAdvertisingDataLength = min(max(Int(octets), 31), ReportAssembler.octetLimit)
            }
            found.periodicAdvertiserListSize = Int(
                try await runOptional(LEReadPeriodicAdvertiserListSize())?.value ?? 0)
        }
        common.controller = found
    }

    /// Reads the number and the length of the controller's data buffers: LE's own, or those that LE shares
    /// with BR/EDR.
    private func readBuffers() async throws(BLEError) {
        var (length, packets) = (0, 0)
        if let own = try await runOptional(LEReadBufferSizeV2()) {
            (length, packets) = (Int(own.aclLength), Int(own.aclPackets))
        } else {
            let own = try await run(LEReadBufferSize())
            (length, packets) = (Int(own.aclLength), Int(own.aclPackets))
        }
        if length == 0 || packets == 0, let shared = try await runOptional(ReadBufferSize()) {
            (length, packets) = (Int(shared.aclLength), Int(shared.aclPackets))
        }
        if length == 0 || packets == 0 { log.warning("the controller has no buffers for data") }
        (common.controller.aclLength, common.controller.aclPackets) = (length, packets)
        acl.configure(packetLength: length, packets: packets)
    }

    /// Sets the defaults of new links: packets as long as the controller can send, because short ones cost
    /// air time and energy; and every PHY that the controller supports, because a link changes only to a PHY
    /// that both sides prefer.
    private func setLinkDefaults() async throws(BLEError) {
        if let transmit = capabilities.maximumDataLength?.transmit, transmit.isPossible {
            try await runOptional(LEWriteSuggestedDefaultDataLength(transmit: transmit))
        }
        if !capabilities.features.isDisjoint(with: [.le2MPHY, .leCodedPHY]) {
            var phys: PHYSet = .le1M
            if capabilities.features.contains(.le2MPHY) { phys.insert(.le2M) }
            if capabilities.features.contains(.leCodedPHY) { phys.insert(.leCoded) }
            try await runOptional(
                LESetDefaultPHY(preference: PHYPreference(transmit: phys, receive: phys)))
        }
    }

    /// Sets the identity address: the public address, or a random static one when there is no public address
    /// or when `staticAddress` is given. Returns false when each opening of the adapter gets a different
    /// address.
    private func takeAddress(_ staticAddress: DeviceAddress?) async throws(BLEError) -> Bool {
        let publicAddress = try await runOptional(ReadBDADDR())?.address
        if staticAddress == nil, let publicAddress, publicAddress.value != 0 {
            setIdentity(publicAddress)
            return true
        }
        let address: DeviceAddress
        var isLasting = true
        switch (staticAddress, specification) {
        case (let given?, _): address = given
        case (nil, .virtual),
            (nil, .stream) where !security.options.keepsStreamAddress,
            (nil, nil) where !security.options.keepsStreamAddress:
            isLasting = false
            address = .randomStatic(common.random.next())
        case (nil, _):
            address = try await security.options.bonds.staticAddress(
                of: name, orNew: .randomStatic(common.random.next()))
        }
        _ = try await run(LESetRandomAddress(address: address))
        setIdentity(address)
        return isLasting
    }

    /// Sets up privacy on a controller that is idle.
    private func setUpPrivacy() async throws(BLEError) {
        radio.privacyWasReset(
            listSize: canResolve ? capabilities.resolvingListSize : 0, at: loop.now)
        watchBonds()
        radio.setPeers(common)
        while let command = try radio.nextSetupCommand(at: loop.now, &common) {
            radio.setupAnswered(try await answer(to: command), at: loop.now)
        }
    }

    /// Whether the controller resolves addresses, and accepts peers that use their identity address, as many
    /// do that have distributed their key (Core Specification 5.4, Vol 6, Part B, 6.1.4). Otherwise their
    /// packets would be discarded.
    private var canResolve: Bool {
        capabilities.features.contains(.privacy) && capabilities.commands.contains(.leSetPrivacyMode)
    }
}

// MARK: - Commands of the setup

extension Adapter {
    private func run<Command: HCICommand>(
        _ command: Command
    ) async throws(BLEError) -> Command.ReturnParameters {
        try await send(command, isSetup: true)
    }

    /// Sends a command that is optional for controllers. Returns nil when the controller does not report
    /// support for it, refuses it, or answers with malformed parameters.
    @discardableResult
    private func runOptional<Command: HCICommand>(
        _ command: Command
    ) async throws(BLEError) -> Command.ReturnParameters? {
        guard capabilities.commands.contains(Command.opcode) else { return nil }
        do throws(BLEError) {
            return try await run(command)
        } catch .hci(let status, _) where status != .operationCancelledByHost {
            log.info("the controller has \(Command.opcode) and refuses it: \(status)")
            return nil
        } catch .controllerMisbehaved(let command, let problem) {
            log.warning("the controller's answer to \(command): \(problem)")
            return nil
        }
    }
}

extension DataLength {
    /// Whether LE Write Suggested Default Data Length accepts these values (Core Specification 5.4, Vol 4,
    /// Part E, 7.8.35).
    fileprivate var isPossible: Bool { (27...251).contains(octets) && (328...17_040).contains(time) }
}
