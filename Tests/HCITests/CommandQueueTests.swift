import BLECore
import HCI
import TestSupport
import Testing

@Suite struct CommandQueueTests {
    let reset = HCICommandPacket(opcode: .reset)
    let rand = HCICommandPacket(opcode: .leRand)
    let version = HCICommandPacket(opcode: .readLocalVersionInformation)
    let scan = HCICommandPacket(opcode: .leSetScanEnable, parameters: [1, 0])
    let connect = HCICommandPacket(opcode: .leCreateConnection, parameters: [1, 2, 3])

    /// Returns Command Complete with these return parameters.
    static func complete(_ opcode: HCIOpcode, credits: UInt8 = 1, _ parameters: [UInt8] = [0]) -> [UInt8] {
        HCIPacket.event(
            CommandComplete(credits: credits, opcode: opcode, returnParameters: parameters).packet
        ).encoded
    }

    static func status(_ opcode: HCIOpcode, _ status: HCIStatus, credits: UInt8 = 1) -> [UInt8] {
        HCIPacket.event(CommandStatus(status: status, credits: credits, opcode: opcode).packet).encoded
    }

    static func bytes(_ command: HCICommandPacket) -> [UInt8] { HCIPacket.command(command).encoded }

    @Test func withdrawnCommandIsNeitherSentNorReported() {
        var queue = CommandQueue()
        let disconnect = HCICommandPacket(opcode: .disconnect, parameters: [0x40, 0, 0x13])
        let other = HCICommandPacket(opcode: .disconnect, parameters: [0x41, 0, 0x13])
        _ = queue.submit(rand, timeLimit: .seconds(1), at: .zero)
        let meant = queue.submit(disconnect, timeLimit: .seconds(1), at: .zero)
        let left = queue.submit(other, timeLimit: .seconds(9), at: .zero)
        #expect(queue.frames() == [Self.bytes(rand)])
        let handle = ConnectionHandle(rawValue: 0x40)
        let takenBack = queue.withdraw { $0.concerns(handle) }
        #expect(takenBack == [meant])
        queue.receive(Self.complete(.leRand).span, at: .zero)
        #expect(queue.frames() == [Self.bytes(other)])
        queue.expire(at: .zero + .seconds(2))
        queue.receive(Self.status(.disconnect, .success).span, at: .zero)
        #expect(queue.events().last == .accepted(left))
    }

    @Test func commandsAreSentAsCreditsAllow() {
        var queue = CommandQueue()
        let first = queue.submit(rand, timeLimit: .seconds(1), at: .zero)
        let second = queue.submit(scan, timeLimit: .seconds(1), at: .zero)
        _ = queue.submit(version, timeLimit: .seconds(1), at: .zero)
        #expect(queue.frames() == [Self.bytes(rand)])

        queue.receive(Self.complete(.leRand, credits: 2, [0, 1, 2]).span, at: .zero)
        #expect(queue.events() == [.completed(first, parameters: [0, 1, 2])])
        #expect(queue.frames() == [Self.bytes(scan), Self.bytes(version)])
        #expect(queue.waitingCount == 0)

        queue.receive(Self.complete(.leSetScanEnable, credits: 1, [0x0c]).span, at: .zero)
        #expect(queue.events() == [.completed(second, parameters: [0x0c])])
        #expect(second.opcode == .leSetScanEnable)
    }

    @Test func unansweredCommandsNeverExceedCredits() {
        var queue = CommandQueue()
        let opcodes: [HCIOpcode] = [.leRand, .readBDADDR, .leReadBufferSize, .readRSSI, .leReadPHY]
        for opcode in opcodes {
            _ = queue.submit(HCICommandPacket(opcode: opcode), timeLimit: .seconds(1), at: .zero)
        }
        var sent = queue.frames().count
        // A controller that always grants two credits never has more than two commands at once.
        for (answered, opcode) in opcodes.enumerated() {
            #expect(sent - answered <= 2)
            queue.receive(Self.complete(opcode, credits: 2).span, at: .zero)
            sent += queue.frames().count
        }
        #expect(queue.events().count == opcodes.count)
    }

    @Test func zeroCreditsBlockUntilGranted() {
        var queue = CommandQueue()
        _ = queue.submit(rand, timeLimit: .seconds(1), at: .zero)
        _ = queue.submit(scan, timeLimit: .seconds(1), at: .zero)
        _ = queue.frames()
        queue.receive(Self.complete(.leRand, credits: 0).span, at: .zero)
        #expect(queue.frames().isEmpty)
        #expect(queue.events().count == 1)

        queue.receive(Self.complete(.none, credits: 1, []).span, at: .zero)
        #expect(queue.events().isEmpty)
        #expect(queue.unsolicitedCount == 0)
        #expect(queue.frames() == [Self.bytes(scan)])
    }

    @Test(arguments: [CommandQueue.Ownership.exclusive, .shared])
    func sameOpcodeWaitsForResponse(_ ownership: CommandQueue.Ownership) {
        var queue = CommandQueue(ownership)
        queue.receive(Self.complete(.none, credits: 5, []).span, at: .zero)
        let first = queue.submit(rand, timeLimit: .seconds(1), at: .zero)
        let second = queue.submit(rand, timeLimit: .seconds(1), at: .zero)
        _ = queue.submit(scan, timeLimit: .seconds(1), at: .zero)
        #expect(queue.frames() == [Self.bytes(rand)])
        queue.receive(Self.complete(.leRand, credits: 5, [0, 1]).span, at: .zero)
        #expect(queue.frames() == [Self.bytes(rand), Self.bytes(scan)])
        queue.receive(Self.complete(.leRand, credits: 5, [0, 2]).span, at: .zero)
        #expect(
            queue.events() == [
                .completed(first, parameters: [0, 1]), .completed(second, parameters: [0, 2]),
            ])
    }

    @Test func commandStatusAcceptsOrFailsCommand() {
        var queue = CommandQueue()
        let first = queue.submit(connect, timeLimit: .seconds(1), at: .zero)
        _ = queue.frames()
        queue.receive(Self.status(.leCreateConnection, .success).span, at: .zero)
        #expect(queue.events() == [.accepted(first)])

        let second = queue.submit(connect, timeLimit: .seconds(1), at: .zero)
        _ = queue.frames()
        queue.receive(Self.status(.leCreateConnection, .commandDisallowed).span, at: .zero)
        #expect(queue.events() == [.failed(second, .commandDisallowed)])

        // Some controllers send Command Complete where Command Status is required.
        let third = queue.submit(connect, timeLimit: .seconds(1), at: .zero)
        _ = queue.frames()
        queue.receive(Self.complete(.leCreateConnection, [0x12]).span, at: .zero)
        #expect(queue.events() == [.completed(third, parameters: [0x12])])
    }

    @Test func unsolicitedResponsesAreCountedAndGrantCredits() {
        var queue = CommandQueue()
        _ = queue.submit(rand, timeLimit: .seconds(1), at: .zero)
        _ = queue.frames()
        queue.receive(Self.complete(.readBDADDR, credits: 2).span, at: .zero)
        queue.receive(Self.status(.disconnect, .success, credits: 3).span, at: .zero)
        #expect(queue.unsolicitedCount == 2)
        #expect(queue.events().isEmpty)
        _ = queue.submit(scan, timeLimit: .seconds(1), at: .zero)
        #expect(queue.frames() == [Self.bytes(scan)])
    }

    @Test func lateResponseOfTimedOutCommandReturnsCredit() {
        var queue = CommandQueue()
        let first = queue.submit(rand, timeLimit: .milliseconds(100), at: .zero)
        let second = queue.submit(scan, timeLimit: .milliseconds(150), at: .ms(20))
        _ = queue.frames()
        #expect(queue.deadline == .ms(100))
        queue.expire(at: .ms(99))
        #expect(queue.events().isEmpty)
        queue.expire(at: .ms(100))
        #expect(queue.events() == [.timedOut(first)])
        #expect(queue.frames().isEmpty, "the credit is not back yet")
        #expect(queue.deadline == .ms(170))

        queue.receive(Self.complete(.leRand, [0, 9]).span, at: .ms(120))
        #expect(queue.events().isEmpty)
        #expect(queue.unsolicitedCount == 1)
        #expect(queue.frames() == [Self.bytes(scan)])
        queue.receive(Self.complete(.leSetScanEnable).span, at: .ms(121))
        #expect(queue.events() == [.completed(second, parameters: [0])])
        #expect(queue.deadline == nil)
    }

    @Test func lateResponseDoesNotCompleteNextCommand() {
        var queue = CommandQueue()
        queue.receive(Self.complete(.none, credits: 5, []).span, at: .zero)
        let first = queue.submit(rand, timeLimit: .milliseconds(100), at: .zero)
        _ = queue.frames()
        queue.expire(at: .ms(100))
        let second = queue.submit(rand, timeLimit: .milliseconds(100), at: .ms(110))
        #expect(queue.frames().isEmpty)
        queue.receive(Self.complete(.leRand, [0, 1]).span, at: .ms(120))
        #expect(queue.frames() == [Self.bytes(rand)])
        queue.receive(Self.complete(.leRand, [0, 2]).span, at: .ms(130))
        #expect(queue.events() == [.timedOut(first), .completed(second, parameters: [0, 2])])
    }

    @Test func unansweredCommandEventuallyReturnsCredit() {
        var queue = CommandQueue()
        let first = queue.submit(rand, timeLimit: .milliseconds(100), at: .zero)
        _ = queue.frames()
        queue.expire(at: .ms(100))
        let second = queue.submit(rand, timeLimit: .milliseconds(500), at: .ms(110))
        #expect(queue.frames().isEmpty)
        queue.expire(at: .ms(200))
        #expect(queue.frames() == [Self.bytes(rand)])
        #expect(queue.events() == [.timedOut(first)])
        queue.receive(Self.complete(.leRand, [0]).span, at: .ms(210))
        #expect(queue.events() == [.completed(second, parameters: [0])])
    }

    @Test func queuedCommandsOfDeadControllerTimeOut() {
        var queue = CommandQueue()
        let tickets = [rand, scan, version].map {
            queue.submit($0, timeLimit: .milliseconds(100), at: .zero)
        }
        _ = queue.frames()
        queue.expire(at: .ms(100))
        #expect(queue.events() == tickets.map { .timedOut($0) })
        #expect(queue.waitingCount == 0)
    }

    @Test func cancelledCommandsReportNothing() {
        var queue = CommandQueue()
        let sent = queue.submit(rand, timeLimit: .milliseconds(100), at: .zero)
        let waiting = queue.submit(scan, timeLimit: .milliseconds(100), at: .zero)
        let last = queue.submit(version, timeLimit: .milliseconds(100), at: .zero)
        _ = queue.frames()
        queue.cancel(sent)
        queue.cancel(waiting)
        #expect(queue.frames().isEmpty)
        queue.receive(Self.complete(.leRand).span, at: .ms(1))
        #expect(queue.frames() == [Self.bytes(version)])
        queue.receive(Self.complete(.readLocalVersionInformation).span, at: .ms(2))
        #expect(queue.events() == [.completed(last, parameters: [0])])
        queue.cancel(last)
        queue.expire(at: .ms(1000))
        #expect(queue.events().isEmpty)
    }

    @Test func resetBypassesAndFailsEarlierCommands() {
        var queue = CommandQueue()
        let first = queue.submit(rand, timeLimit: .seconds(1), at: .zero)
        let second = queue.submit(scan, timeLimit: .seconds(1), at: .zero)
        _ = queue.frames()
        let third = queue.submit(reset, timeLimit: .seconds(1), at: .ms(1))
        let fourth = queue.submit(version, timeLimit: .seconds(1), at: .ms(1))
        #expect(
            queue.events() == [
                .failed(first, .operationCancelledByHost), .failed(second, .operationCancelledByHost),
            ])
        #expect(queue.frames() == [Self.bytes(reset)], "without a credit, and nothing behind it")

        // The answer to an earlier command has no effect except on the credits.
        queue.receive(Self.complete(.leRand, credits: 4).span, at: .ms(2))
        #expect(queue.frames().isEmpty)
        queue.receive(Self.complete(.reset).span, at: .ms(3))
        #expect(queue.frames() == [Self.bytes(version)])
        #expect(queue.events() == [.completed(third, parameters: [0])])
        queue.receive(Self.complete(.readLocalVersionInformation).span, at: .ms(4))
        #expect(queue.events() == [.completed(fourth, parameters: [0])])
    }

    @Test func lostResetCanBeRetriedImmediately() {
        var queue = CommandQueue()
        let first = queue.submit(reset, timeLimit: .milliseconds(100), at: .zero)
        _ = queue.frames()
        queue.expire(at: .ms(100))
        let second = queue.submit(reset, timeLimit: .milliseconds(100), at: .ms(100))
        #expect(queue.frames() == [Self.bytes(reset)])
        queue.receive(Self.complete(.reset).span, at: .ms(150))
        #expect(queue.events() == [.timedOut(first), .completed(second, parameters: [0])])
    }

    @Test func sharedControllerIgnoresCredits() {
        var queue = CommandQueue(.shared)
        let all = [rand, scan, version, connect]
        for command in all { _ = queue.submit(command, timeLimit: .seconds(1), at: .zero) }
        #expect(queue.frames() == all.map(Self.bytes))
        queue.receive(Self.complete(.readBDADDR, credits: 0).span, at: .zero)
        _ = queue.submit(
            HCICommandPacket(opcode: .leReadBufferSize), timeLimit: .seconds(1), at: .zero)
        #expect(queue.frames().count == 1)
    }

    @Test("on a shared controller the response after a foreign command belongs to the other process")
    func foreignResponsesAreDistinguished() {
        for isFirst in [false, true] {
            var queue = CommandQueue(.shared)
            // The kernel sends our command after the answer to the foreign one, or has sent it before.
            let ours = queue.submit(scan, timeLimit: .seconds(1), at: .zero)
            _ = queue.frames()
            if isFirst { queue.receive(Self.complete(scan.opcode, [0x00]).span, at: .zero) }
            queue.receive(Self.bytes(scan).span, at: .zero)
            queue.receive(Self.complete(scan.opcode, [0x0c]).span, at: .zero)
            if !isFirst { queue.receive(Self.complete(scan.opcode, [0x00]).span, at: .zero) }
            let events: [CommandQueue.Event] = [
                .completed(ours, parameters: [0x00]),
                .foreign(Array(Self.bytes(scan).dropFirst()), .commandDisallowed),
            ]
            #expect(queue.events() == (isFirst ? events : events.reversed()))
            #expect(queue.unsolicitedCount == 1)
        }
    }

    @Test(
        "a missing foreign response is not awaited, and an exclusive controller has none")
    func missingForeignResponseIsNotAwaited() {
        for ownership in [CommandQueue.Ownership.shared, .exclusive] {
            var queue = CommandQueue(ownership)
            queue.receive(Self.bytes(scan).span, at: .zero)
            let time = Instant.zero + (ownership == .shared ? .seconds(2) : .zero)
            let ours = queue.submit(scan, timeLimit: .seconds(1), at: time)
            _ = queue.frames()
            queue.receive(Self.complete(scan.opcode, [0x00]).span, at: time)
            #expect(queue.events() == [.completed(ours, parameters: [0x00])])
        }
    }

    @Test func foreignResetFailsPendingCommands() {
        var queue = CommandQueue(.shared)
        let ticket = queue.submit(rand, timeLimit: .seconds(1), at: .zero)
        _ = queue.frames()
        queue.receive(Self.complete(.reset).span, at: .zero)
        #expect(queue.events() == [.failed(ticket, .operationCancelledByHost)])
        #expect(queue.deadline == nil)
    }

    @Test("foreign commands before a Reset expect no response") func resetForgetsForeignCommands() {
        var queue = CommandQueue(.shared)
        queue.receive(Self.bytes(scan).span, at: .zero)
        queue.receive(Self.complete(.reset).span, at: .zero)
        let ours = queue.submit(scan, timeLimit: .seconds(1), at: .zero)
        _ = queue.frames()
        queue.receive(Self.complete(scan.opcode, [0x00]).span, at: .zero)
        #expect(queue.events() == [.completed(ours, parameters: [0x00])])
    }

    @Test func malformedResponsesAreReported() {
        var queue = CommandQueue()
        for frame: [UInt8] in [
            [4, 0x0e, 2, 1, 0], [4, 0x0f, 3, 0, 1, 2], [4, 0x0e, 9, 1, 2, 3], [4, 0x0e],
        ] {
            queue.receive(frame.span, at: .zero)
            let events = queue.events()
            #expect(events.count == 1)
            guard case .malformed = events.first else {
                Issue.record("\(frame) gave \(events)")
                continue
            }
        }
    }

    @Test func otherPacketsAreIgnored() {
        var queue = CommandQueue()
        for frame: [UInt8] in [[], [4], [4, 0x3e, 1, 2], [2, 0, 0, 0, 0], [1, 0x0e, 0x20, 0]] {
            queue.receive(frame.span, at: .zero)
        }
        #expect(queue.events().isEmpty)
        #expect(queue.unsolicitedCount == 0)
    }

    /// Every command has exactly one event, and the queue ends empty, for any answers at any time.
    @Test func everyCommandEndsOnce() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<300 {
            var queue = CommandQueue(Bool.random(using: &random) ? .exclusive : .shared)
            var open: Set<CommandQueue.Ticket> = []
            var now = 0
            func take(_ events: [CommandQueue.Event]) {
                for event in events {
                    switch event {
                    case .completed(let ticket, _), .accepted(let ticket), .failed(let ticket, _),
                        .timedOut(let ticket):
                        #expect(open.remove(ticket) != nil)
                    case .foreign, .malformed: Issue.record("nothing was malformed, nor another's")
                    }
                }
            }
            for _ in 0..<60 {
                now += Int.random(in: 0...30, using: &random)
                let command = [reset, rand, version, scan, connect].randomElement(using: &random) ?? rand
                let credits = UInt8.random(in: 0...3, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    open.insert(queue.submit(command, timeLimit: .milliseconds(100), at: .ms(now)))
                case 2: queue.receive(Self.complete(command.opcode, credits: credits).span, at: .ms(now))
                case 3: queue.receive(Self.status(command.opcode, .success).span, at: .ms(now))
                case 4: _ = queue.frames()
                default: queue.expire(at: .ms(now))
                }
                take(queue.events())
            }
            queue.expire(at: .ms(now + 100))
            queue.expire(at: .ms(now + 200))
            take(queue.events())
            #expect(open.isEmpty)
            #expect(queue.deadline == nil)
        }
    }
}
