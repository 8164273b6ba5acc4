import ATT
import BLECore
import GATTClient
import HCISocket

/// A channel that writes commands to one characteristic of a device and receives the answers from another
/// one, by notification or indication.
///
/// Commands are held until the subscription to the answers is complete, because an answer to an earlier
/// command would be lost. They are then written in order, each after the write of the previous one.
///
/// ```swift
/// let channel = peripheral.commandChannel(writing: transmit, answers: receive)
/// try channel.enqueue([0x01])
/// for try await answer in channel.answers { print(answer.value) }
/// ```
/// The channel ends when the last reference to it is released, or with an error such as the end of the link.
/// The error ends `answers` and is thrown to all waiting callers.
public struct CommandChannel: Sendable {
    /// The answers of the device, for one consumer; its buffer has the policy with which the channel was created.
    public let answers: BoundedStream<ReceivedValue>
    /// The commands that were not written, each with its error, for one consumer; the newest 64 are buffered.
    /// When the channel ends, the commands that were still waiting are reported here, and the stream ends.
    public let failures: BoundedStream<CommandFailure>
    private let owner: Owner

    /// Cancels the channel's task when the last reference to the channel is released.
    private final class Owner: Sendable {
        let commands: HeldCommands
        let work: Task<Void, Never>
        let loop: EventLoop
        /// The requests that were not answered yet. The first one has its turn.
        private let requests = Lock<[PendingCommand]>([])

        init(_ commands: HeldCommands, _ work: Task<Void, Never>, on loop: EventLoop) {
            self.commands = commands
            self.work = work
            self.loop = loop
        }

        deinit { work.cancel() }

        /// Waits for the turn of a request. It ends with `leave`, also if this throws.
        func enter(_ request: PendingCommand) async throws(BLEError) {
            let isFirst = requests.withLock { requests in
                requests.append(request)
                return requests.count == 1
            }
            if isFirst { request.finish(.success(())) }
            try await request.wait()
        }

        func leave(_ request: PendingCommand) {
            let next = requests.withLock { requests in
                requests.removeAll { $0 === request }
                return requests.first
            }
            next?.finish(.success(()))
        }
    }

    fileprivate init(_ work: CommandWork) {
        let task = Task(executorPreference: work.peripheral.adapter.loop) { await work.run() }
        work.answers.onEnd { task.cancel() }
        answers = BoundedStream(work.answers)
        failures = BoundedStream(work.commands.failures)
        owner = Owner(work.commands, task, on: work.peripheral.adapter.loop)
    }

    /// The number of commands that wait to be written.
    package var waiting: Int { owner.commands.count }

    /// Queues a command, and does not wait until it is written; `failures` reports it if it is not written.
    /// Throws `BLEError.limit`, and queues nothing, when the limit of waiting commands is reached.
    public func enqueue(_ command: [UInt8]) throws(BLEError) { _ = try owner.commands.add(command) }

    /// Writes a command, and returns the answer: the next value that arrives. Throws `BLEError.timedOut` if there is
    /// none within `limit`, which includes the time until the command is written; the channel goes on then.
    ///
    /// Answers that arrived before the call, such as a late one to an earlier request, are dropped. Requests that are
    /// made at the same time follow each other. `answers` must not have another consumer meanwhile.
    ///
    /// ```swift
    /// let version = try await channel.request([0x02], within: .seconds(2)).value
    /// ```
    public func request(_ command: [UInt8], within limit: Duration) async throws(BLEError) -> ReceivedValue {
        // The channel has to work for as long as this call waits.
        defer { withExtendedLifetime(owner) {} }
        let loop = owner.loop
        let (end, late) = (loop.now + limit, BLEError.timedOut(.answer, after: limit))
        let request = PendingCommand(command)
        defer { owner.leave(request) }
        try await withDeadline(limit, on: loop, orThrow: late) { [self] () throws(BLEError) in
            try await owner.enter(request)
            // An earlier command may still be in the air, and be answered until its write has ended.
            try await owner.commands.add(command) { [buffer = answers.buffer] in buffer.dropAll() }.wait()
        }
        let answer = try await answers.next(within: loop.now.duration(until: end), orThrow: late)
        guard let answer else { throw .cancelled }
        return answer
    }

    /// Queues a command, and waits until it is written. If the task is cancelled before its turn, the command is
    /// not written.
    public func send(_ command: [UInt8]) async throws(BLEError) {
        // The channel has to work for as long as this call waits.
        defer { withExtendedLifetime(owner) {} }
        try await owner.commands.add(command).wait()
    }
}

extension Peripheral {
    /// Creates a channel that writes commands to one characteristic and receives their answers from another
    /// one, to which it subscribes at once. At most `limit` commands can wait.
    public func commandChannel(
        writing characteristic: RemoteCharacteristic, type: WriteType = .withResponse,
        answers: RemoteCharacteristic, limit: Int = 64, buffer: BufferPolicy = .standard
    ) -> CommandChannel {
        CommandChannel(
            CommandWork(
                peripheral: self, writing: characteristic, type: type, answering: answers,
                commands: HeldCommands(limit: limit),
                answers: StreamBuffer(buffer, on: adapter.loop, octets: { $0.value.count })))
    }
}

/// The task of a command channel.
private struct CommandWork: Sendable {
    let peripheral: Peripheral
    let writing: RemoteCharacteristic
    let type: WriteType
    let answering: RemoteCharacteristic
    let commands: HeldCommands
    let answers: StreamBuffer<ReceivedValue>

    func run() async {
        let end = await work()
        commands.end(end)
        answers.finish(.failure(end))
    }

    private func work() async -> BLEError {
        do throws(BLEError) {
            let stream = try await peripheral.values(of: answering)
            return await withTaskGroup(of: BLEError.self) { group in
                group.addTask { await forward(stream) }
                group.addTask { await writeAll() }
                let end = await group.next() ?? .cancelled
                group.cancelAll()
                return end
            }
        } catch {
            return error
        }
    }

    private func forward(_ stream: BoundedStream<ReceivedValue>) async -> BLEError {
        do throws(BLEError) {
            for try await value in stream { answers.yield(value) }
            return .cancelled
        } catch {
            return error
        }
    }

    /// Writes commands as they are queued. A command that the device rejects fails alone; the end of the link
    /// ends the channel.
    private func writeAll() async -> BLEError {
        do throws(BLEError) {
            while true {
                let command = try await commands.next()
                do throws(BLEError) {
                    try await peripheral.write(command.octets, to: writing, type: type)
                    command.finish(.success(()))
                } catch {
                    commands.fail(command, error)
                    switch error {
                    case .disconnected, .cancelled: throw error
                    default: continue
                    }
                }
            }
        } catch {
            return error
        }
    }
}

/// A command that was not written.
public struct CommandFailure: Hashable, Sendable {
    /// The octets of the command that was not sent.
    public let command: [UInt8]
    /// The error with which its write failed.
    public let error: BLEError
}
