import BLECore
import DequeModule
import HCI

/// Whether a link is encrypted, and how far a change of that is (Core Specification 5.4, Vol 6, Part B, 5.1.3).
struct LinkEncryption: Sendable {
    /// Whether it is, as reported to the hosts.
    var isOn = false
    /// The encryption procedure in progress.
    var procedure: Procedure?
    /// What waits until it is over: no data are sent meanwhile.
    var waiting: Deque<LinkSignal> = []

    /// Encryption being started, perhaps after a pause.
    struct Procedure: Sendable {
        /// What the peer has to send next, or the host to say.
        private(set) var step: Step
        /// Whether the link was encrypted before.
        let isRefresh: Bool
        /// When the procedure fails for lack of an answer.
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

        /// Goes on, which begins the time for an answer anew (5.2).
        mutating func advance(to step: Step, at now: Instant) {
            self.step = step
            end = now + Self.responseTimeout
        }

        /// What the end of that role can make if it has the key.
        func proof(of role: ConnectionRole) -> UInt128 {
            let diversifier = UInt128(peripheralHalf) << 64 | UInt128(centralHalf)
            let sessionKey = AES128(key: key).encrypt(diversifier)
            return AES128(key: sessionKey).encrypt(role == .central ? 1 : 0)
        }

        private static let responseTimeout = Duration.seconds(40)
    }

    /// What a procedure waits for next.
    enum Step: Sendable {
        /// By either end: LL_PAUSE_ENC_RSP of the peer.
        case pause
        /// The peripheral waits for LL_ENC_REQ.
        case request
        /// The central waits for LL_ENC_RSP.
        case response
        /// The peripheral's host has to give the key.
        case key
        /// The central waits for LL_START_ENC_REQ.
        case start
        /// By either end: LL_START_ENC_RSP of the peer.
        case started
    }
}

// MARK: - What hosts want

extension VirtualController {
    /// Begins to encrypt a link, as its central.
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

    /// Goes on with the key of the peripheral's host.
    mutating func takeKey(_ key: UInt128, on index: Int, at now: Instant) {
        links[index].encryption.procedure?.key = key
        links[index].encryption.procedure?.advance(to: .started, at: now)
        send(.encryption(.start), on: index)
    }

    /// The peripheral's host has no key. A link that was encrypted cannot go on without (5.1.3.1).
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

// MARK: - What peers send

extension VirtualController {
    /// Takes what the other end sends about encryption. What it should not send now cannot be authenticated.
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
            // With another key, this end is as little understood by the other as the other is here.
            send(.encryption(.started(proof: procedure.proof(of: .peripheral))), on: index)
            guard proof == procedure.proof(of: .central) else { return failAuthentication(of: index) }
            finishEncryption(on: index, at: now)
        default: failAuthentication(of: index)
        }
    }

    /// Takes what a central begins with.
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

    /// Answers a central, and asks the host for the key. A host that does not want to be asked has none.
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
        guard wants(.longTermKeyRequest) else { return refuseEncryption(on: index) }
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

    /// The procedure is over: what has waited is sent.
    private mutating func resume(_ index: Int) {
        let waiting = links[index].encryption.waiting
        links[index].encryption.waiting = []
        links[index].encryption.procedure = nil
        for signal in waiting { send(signal, on: index) }
    }

    /// Leaves the connection at once, without a word that the peer could read (5.1.3.1).
    private mutating func failAuthentication(of index: Int) {
        transmit(.link(links[index].id, .silence), to: links[index].peer)
        end(index, .connectionTerminatedMICFailure)
    }

    /// Of the two events, the newer one where the host knows it. Controllers do not know how long a key
    /// was before it was filled up with zeros.
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
