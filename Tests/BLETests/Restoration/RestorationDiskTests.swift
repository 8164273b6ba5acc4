import BLECore
import Glibc
import HCISocket
import SystemPackage
import Testing

@testable import BLE

/// The stored state after a disk step has failed or the process was killed.
struct RestorationDiskTests {
    let folder: StateFolder
    init() throws { folder = try StateFolder() }

    private var path: String { "\(folder.path)/restoring" }

    private func open(
        steps: Int = .max, _ seen: Lock<[Disk.Step]> = Lock([])
    ) async throws(BLEError) -> KeptState<CentralState>? {
        let disk = Disk { step throws(Errno) in
            let isAllowed = seen.withLock { seen -> Bool in
                seen.append(step)
                return seen.count <= steps
            }
            if !isAllowed { throw .noSpace }
        }
        return try await KeptState.open("x.central", in: path, disk, for: .shared)
    }

    private static func device(_ number: UInt64) -> Peripheral.Identifier {
        Peripheral.Identifier(DeviceAddress(number, type: .public))
    }

    @Test("changes before the end are stored, later ones are not")
    func changesUntilEndAreStored() async throws {
        let state = try #require(try await open())
        let (early, late) = (Self.device(1), Self.device(2))
        state.changeSoon { $0.note(early, at: SampleBonds.noon) }
        let ending = state.end(.adapter(.closed))
        state.changeSoon { $0.note(late, at: SampleBonds.noon) }
        await ending.value
        #expect(await failure { () throws(BLEError) in try await state.flush() } == .adapter(.closed))
        var expected = CentralState()
        expected.note(early, at: SampleBonds.noon)
        #expect(try await open()?.value == expected)
    }

    @Test("a new file is synchronized before its rename, and the rename before flush returns")
    func synchronizesBeforeRenameAndFlush() async throws {
        let seen = Lock<[Disk.Step]>([])
        let state = try #require(try await open(steps: .max, seen))
        #expect(seen.withLock { $0 } == [.makeFolder(path), .synchronize(folder.path)])
        seen.withLock { $0 = [] }
        state.change { $0.note(Self.device(1), at: SampleBonds.noon) }
        try await state.flush()
        // Nothing has changed since.
        try await state.flush()
        let file = "\(path)/x.central"
        #expect(
            seen.withLock { $0 } == [
                .create("\(file).new"), .write("\(file).new"), .synchronize("\(file).new"),
                .rename("\(file).new", to: file), .synchronize(path),
            ])
        #expect(try folder.mode(file) == 0o600)
        #expect(try folder.mode(path) == 0o700)
        // Changes that are flushed at the same time are written together.
        seen.withLock { $0 = [] }
        for number in 2..<UInt64(50) { state.change { $0.note(Self.device(number), at: SampleBonds.noon) } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await state.flush() } }
            try await group.waitForAll()
        }
        #expect(seen.withLock { $0 }.count == 5)
        await state.end(.cancelled).value
        #expect(try await open()?.value.latest.count == 49)
    }

    @Test("a disk failure at any step leaves the old or new state, and a retry stores the new one")
    func everyStep() async throws {
        let before = try #require(try await open())
        before.change { $0.note(Self.device(1), at: SampleBonds.noon) }
        try await before.flush()
        await before.end(.cancelled).value
        var outcomes: [Bool] = []
        for steps in 0... {
            let isOver = Lock(false)
            let count = Lock(0)
            let disk = Disk { _ throws(Errno) in
                let isAllowed = count.withLock { count -> Bool in
                    count += 1
                    return count <= steps
                }
                if !isAllowed, !isOver.withLock({ $0 }) { throw .noSpace }
            }
            let state = try #require(
                try await KeptState<CentralState>.open("x.central", in: path, disk, for: .shared))
            let new = Self.device(1000 + UInt64(steps))
            state.change { $0.note(new, at: SampleBonds.noon) }
            let problem = await failure { () throws(BLEError) in try await state.flush() }
            // The state that the next process would find if this one were killed now.
            let octets = try #require(folder.contents(at: "\(path)/x.central"))
            let (found, problems) = StateTextTests.read(octets, as: CentralState.self)
            #expect(problems.isEmpty && found.latest.contains(Self.device(1)))
            outcomes.append(found.latest.contains(new))
            if problem != nil {
                isOver.withLock { $0 = true }
                try await state.flush()
            }
            await state.end(.cancelled).value
            let last = try #require(try await open())
            #expect(last.value.latest.contains(new))
            await last.end(.cancelled).value
            if problem == nil { break }
        }
        // The steps are create, write, synchronize, rename, and synchronize the folder.
        #expect(outcomes == [false, false, false, false, true, true])
    }

    @Test("a file that is too large is neither read nor replaced")
    func tooLargeFileStays() async throws {
        // Creates the folder.
        await (try #require(try await open())).end(.cancelled).value
        let octets = [UInt8](repeating: UInt8(ascii: "x"), count: Disk.limit + 1)
        try folder.write(octets, at: "\(path)/x.central")
        let problem = await failure { () throws(BLEError) in _ = try await open() }
        guard case .restoration(.state(.system(.fileTooLarge, during: _))) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(folder.contents(at: "\(path)/x.central")?.count == octets.count)
    }

    @Test("the intact rest of a damaged file is used, and the whole file is kept aside")
    func damagedFileIsUsedAndKept() async throws {
        let first = try #require(try await open())
        first.change { state in
            state.links[state.number()] = RestoredPeripheral(Self.device(1))
            state.scans[state.number()] = ScanOptions()
            state.note(Self.device(2), at: SampleBonds.noon)
        }
        try await first.flush()
        await first.end(.cancelled).value
        let file = "\(path)/x.central"
        var octets = try #require(folder.contents(at: file))
        octets[30] ^= 1
        try folder.write(octets, at: file)
        let second = try #require(try await open())
        #expect(second.value.links.isEmpty && second.value.scans.count == 1)
        #expect(second.value.latest == [Self.device(2)])
        #expect(second.problems == [.damaged(path: file, line: 10, .checksum)])
        #expect(folder.contents(at: "\(file).damaged") == octets)
        await second.end(.cancelled).value
        // The damage is reported once.
        let third = try #require(try await open())
        #expect(third.problems.isEmpty && third.value.scans.count == 1)
        await third.end(.cancelled).value
        // A file of a later release is kept whole beside the new file.
        let newer = Array("bletool scan 2\nchecksum 00000000\n".utf8)
        try folder.write(newer, at: file)
        let fourth = try #require(try await open())
        #expect(fourth.problems == [.newer(path: file, version: 2)])
        #expect(folder.contents(at: "\(file).version-2") == newer)
        await fourth.end(.cancelled).value
    }

    @Test("after the end no changes are taken, and a flush fails")
    func endedStateRefusesChangesAndFlush() async throws {
        let state = try #require(try await open())
        #expect(try await open() == nil)
        #expect(StateFile.owner(of: "x.central", in: path, Disk()) == getpid())
        await state.end(.adapter(.closed)).value
        #expect(state.change { $0.number() } == nil)
        #expect(await failure { () throws(BLEError) in try await state.flush() } == .adapter(.closed))
        #expect(try await open() != nil)
    }

    // Before Swift 6.3, no value can be passed to the process of a test.
    #if compiler(>=6.3)
    @Test(
        "flushed state is on the disk, even when the process is killed at any step",
        arguments: [3, 6, 11, 40, 77, 123, 254, 301])
    func flushedStateSurvivesKill(step: Int) async throws {
        let acknowledged = "\(folder.path)/acknowledged"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, acknowledged = acknowledged as String, step = step as Int] in
            let count = Lock(0)
            // Other writers may return from a flush at the moment of the kill.
            let disk = Disk { _ in
                let isLast = count.withLock { count -> Bool in
                    count += 1
                    return count == step
                }
                if isLast { kill(getpid(), SIGKILL) }
            }
            let state = try #require(
                try await KeptState<CentralState>.open("x.central", in: path, disk, for: .shared))
            let out = Glibc.open(acknowledged, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<3 as Range<UInt64> {
                    group.addTask {
                        for number in 0..<UInt64(300) {
                            let id = Peripheral.Identifier(
                                DeviceAddress(writer << 32 | number, type: .public))
                            state.change { $0.note(id, at: Timestamp(milliseconds: Int64(number))) }
                            guard (try? await state.flush()) != nil else { return }
                            // Each line is written in one call, so it is complete or absent.
                            let line = Array("\(id.address)\n".utf8)
                            _ = line.withUnsafeBytes { write(out, $0.baseAddress, $0.count) }
                        }
                    }
                }
            }
        }
        let known = String(decoding: folder.contents(at: acknowledged) ?? [], as: UTF8.self)
            .split(separator: "\n").compactMap { DeviceAddress($0) }
        let state = try #require(try await open())
        #expect(state.problems.isEmpty)
        // Creating the folder and synchronizing its parent takes two steps, each write five.
        #expect(known.isEmpty == (step <= 7))
        #expect(Set(known.map { Peripheral.Identifier($0) }).isSubset(of: Set(state.value.latest)))
        await state.end(.cancelled).value
    }
    #endif
}
