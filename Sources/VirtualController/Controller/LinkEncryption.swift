import BLECore
import DequeModule
import HCI

/// The encryption state of a link, with the procedure in progress (Core Specification 5.4, Vol 6, Part B,
/// 5.1.3).
struct LinkEncryption: Sendable {
    /// Whether the link is encrypted, as reported to the host.
    var isOn = false
    /// The encryption procedure in progress.
    var procedure: Procedure?
    /// The signals that wait until the procedure ends; no data are sent during it.
    var waiting: Deque<LinkSignal> = []

    /// A procedure that starts encryption, or pauses it and starts it again.
    struct Procedure: Sendable {
        /// The step that the procedure waits for.
        private(set) var step: Step
        /// Whether the link was encrypted before.
        let isRefresh: Bool
        /// The time at which the procedure fails without an answer.
        private(set) var end: Instant
        var key: UInt128 = 0
        /// The number that identifies the key.
        var random: UInt64 = 0
        var diversifier: UInt16 = 0
        /// The halves of the session key diversifier.
        var centralHalf: UInt64 = 0
        var peripheralHalf: UInt64 = 0

        init(_ step: Step, isRefresh: Bool, at now: Instant) {
            self.step = step
            self.isRefresh = isRefresh
            end = now + Self.responseTimeout
        }

        /// Advances to the next step, which restarts the response timeout (5.2).
        mutating func advance(to step: Step, at now: Instant) {
            self.step = step
            end = now + Self.responseTimeout
        }

        /// Returns the proof that the device with this role can calculate if it has the key.
        func proof(of role: ConnectionRole) -> UInt128 {
            let diversifier = UInt128(peripheralHalf) << 64 | UInt128(centralHalf)
            let sessionKey = AES128(key: key).encrypt(diversifier)
            return AES128(key: sessionKey).encrypt(role == .central ? 1 : 0)
        }

        private static let responseTimeout = Duration.seconds(40)
    }

    /// The signal or answer that a procedure waits for.
    enum Step: Sendable {
        /// Either device waits for LL_PAUSE_ENC_RSP of the peer.
        case pause
        /// The peripheral waits for LL_ENC_REQ.
        case request
        /// The central waits for LL_ENC_RSP.
        case response
        /// The peripheral waits for the key from its host.
        case key
        /// The central waits for LL_START_ENC_REQ.
        case start
        /// Either device waits for LL_START_ENC_RSP of the peer.
        case started
    }
}

// MARK: - Requests of the hosts

extension VirtualController {
    /// Starts encryption of a link, or refreshes its key, as central.
    mutating func beginEncryption(
        _ command: LEEnableEncryption, on index: Int, at now: Instant
    ) {
        let isRefresh = links[index].encryption.isOn
        var procedure = LinkEncryption.Procedure(
            isRefresh ? .pause : .response, isRefresh: isRefresh, at: now)
        procedure.key = command.key
        procedure.random = command.random
        procedure.diversifier = command.diversifier
        procedure.centralHalf = random.next()
        links[index].encryption.procedure = procedure
        if isRefresh {
            send(.encryption(.pause), on: index)
        } else {
            sendEncryptionRequest(procedure, on: index)
        }
    }

    /// Continues the procedure with the key from the peripheral's host.
    mutating func takeKey(_ key: UInt128, on index: Int, at now: Instant) {
        links[index].encryption.procedure?.key = key
        links[index].encryption.procedure?.advance(to: .started, at: now)
        send(.encryption(.start), on: index)
    }

    /// Rejects encryption, because the peripheral's host has no key. A link that was encrypted before must
    /// end (5.1.3.1).
    mutating func refuseEncryption(on index: Int) {
        guard links[index].encryption.procedure?.isRefresh == true else {
            send(.encryption(.rejected(.pinOrKeyMissing)), on: index)
            return resume(index)
        }
        links[index].ending = .pinOrKeyMissing
        send(.terminate(.pinOrKeyMissing), on: index)
        flush(index)
    }
}

// MARK: - Signals of the peer

extension VirtualController {
    /// Processes an encryption signal of the peer. An unexpected signal is treated as an authentication
    /// failure.
    mutating func receive(_ signal: EncryptionSignal, on index: Int, at now: Instant) {
        let link = links[index]
        guard let procedure = link.encryption.procedure else {
            return receiveFirst(signal, on: index, at: now)
        }
        switch (link.role, procedure.step, signal) {
        case (.central, .pause, .paused):
            send(.encryption(.paused), on: index)
            links[index].encryption.procedure?.advance(to: .response, at: now)
            sendEncryptionRequest(procedure, on: index)
        case (.central, .response, .response(let half)):
            links[index].encryption.procedure?.peripheralHalf = half
            links[index].encryption.procedure?.advance(to: .start, at: now)
        case (.central, .start, .start):
            send(.encryption(.started(proof: procedure.proof(of: .central))), on: index)
            links[index].encryption.procedure?.advance(to: .started, at: now)
        case (.central, .started, .started(let proof)):
            guard proof == procedure.proof(of: .peripheral) else { return failAuthentication(of: index) }
            finishEncryption(on: index, at: now)
        case (.central, .response, .rejected(let status)), (.central, .start, .rejected(let status)):
            reportEncryption(links[index], status)
            resume(index)
        case (.peripheral, .pause, .paused):
            links[index].encryption.procedure?.advance(to: .request, at: now)
        case (.peripheral, .request, .request(let random, let diversifier, let half)):
            respond(random, diversifier, half, procedure, on: index, at: now)
        case (.peripheral, .started, .started(let proof)):
            // The response is sent before the check: with different keys, neither device can authenticate the
            // other.
            send(.encryption(.started(proof: procedure.proof(of: .peripheral))), on: index)
            guard proof == procedure.proof(of: .central) else { return failAuthentication(of: index) }
            finishEncryption(on: index, at: now)
        default: failAuthentication(of: index)
        }
    }

    /// Processes the first signal of a procedure, from a central.
    private mutating func receiveFirst(_ signal: EncryptionSignal, on index: Int, at now: Instant) {
        let isOn = links[index].encryption.isOn
        switch (links[index].role, signal) {
        case (.peripheral, .request) where !configuration.encrypts:
            send(.encryption(.rejected(.unsupportedRemoteFeature)), on: index)
        case (.peripheral, .request(let random, let diversifier, let half)) where !isOn:
            respond(
                random, diversifier, half,
                LinkEncryption.Procedure(.request, isRefresh: false, at: now), on: index, at: now)
        case (.peripheral, .pause) where isOn:
            links[index].encryption.procedure = LinkEncryption.Procedure(.pause, isRefresh: true, at: now)
            send(.encryption(.paused), on: index)
        default: failAuthentication(of: index)
        }
    }

    private mutating func sendEncryptionRequest(_ procedure: LinkEncryption.Procedure, on index: Int) {
        send(
            .encryption(
                .request(
                    random: procedure.random, diversifier: procedure.diversifier,
                    half: procedure.centralHalf)), on: index)
    }

    /// Answers a central and requests the key from the host. A host that has masked the request event is
    /// treated as having no key.
    private mutating func respond(
        _ random: UInt64, _ diversifier: UInt16, _ half: UInt64, _ procedure: LinkEncryption.Procedure,
        on index: Int, at now: Instant
    ) {
        var procedure = procedure
        procedure.centralHalf = half
        procedure.peripheralHalf = self.random.next()
        procedure.advance(to: .key, at: now)
        links[index].encryption.procedure = procedure
        send(.encryption(.response(half: procedure.peripheralHalf)), on: index)
        guard reports(.longTermKeyRequest) else { return refuseEncryption(on: index) }
        emit(
            LELongTermKeyRequest(
                connection: links[index].handle, random: random, diversifier: diversifier))
    }
}

// MARK: - Outcomes

extension VirtualController {
    private mutating func finishEncryption(on index: Int, at now: Instant) {
        let isRefresh = links[index].encryption.isOn
        links[index].encryption.isOn = true
        links[index].payload.restart(at: now)
        if isRefresh {
            emit(EncryptionKeyRefreshComplete(connection: links[index].handle))
        } else {
            reportEncryption(links[index])
        }
        resume(index)
    }

    /// Ends the procedure and sends the signals that have waited.
    private mutating func resume(_ index: Int) {
        let waiting = links[index].encryption.waiting
        links[index].encryption.waiting = []
        links[index].encryption.procedure = nil
        for signal in waiting { send(signal, on: index) }
    }

    /// Leaves the connection at once, without notifying the peer, which could not read the packet (5.1.3.1).
    private mutating func failAuthentication(of index: Int) {
        transmit(.link(links[index].id, .silence), to: links[index].peer)
        end(index, .connectionTerminatedMICFailure)
    }

    /// Reports encryption with the newer of the two events if the host has enabled it. The key size is
    /// reported as 16, because controllers do not know the size of a key before it was padded with zeros.
    private mutating func reportEncryption(_ link: Link, _ status: HCIStatus = .success) {
        let mode: EncryptionMode = link.encryption.isOn ? .on : .off
        if isExtended, settings.eventMaskPage2.contains(.encryptionChangeV2) {
            emit(
                EncryptionChangeV2(
                    status: status, connection: link.handle, mode: mode, keySize: mode == .on ? 16 : 0))
        } else {
            emit(EncryptionChange(status: status, connection: link.handle, mode: mode))
        }
    }
}
