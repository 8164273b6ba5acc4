import BLECore
import GATTServer
import HCI
import HCISocket
import SMP
import Testing

@testable import BLE

/// What a host does when packets of its controller were lost.
@Suite struct PacketLossTests {
    /// A server with two links, whose port can lose packets, and whose controller a test can script.
    private struct Hosts: Sendable {
        let bed: VirtualTestbed
        let server: Adapter
        let port: OverflowingPort
        let controller: ScriptedPort
        /// The address of the host at the other end of the first link.
        let firstAddress: DeviceAddress
        let first: Peripheral
        let second: Peripheral

        static func run(
            maximumLinks: Int = 2, _ body: @escaping @Sendable (Hosts) async throws -> Void
        ) async throws {
            try await VirtualTestbed.run { bed in
                let controller = ScriptedPort(await bed.port(), on: bed.loop)
                let port = OverflowingPort(controller)
                let server = try await bed.host("server", on: port)
                try await server.serve(maximumLinks: maximumLinks)
                let client = try await bed.host("first")
                let first = try await client.connect(to: server)
                let second = try await bed.host("second").connect(to: server)
                try await body(
                    Hosts(
                        bed: bed, server: server, port: port, controller: controller,
                        firstAddress: await client.address, first: first, second: second))
            }
        }

        /// The number of questions for links that the server has asked.
        var questions: Int { controller.opcodes.count { $0 == .readRSSI } }

        /// Ends the first link. The report of that is lost.
        func loseEnd() async {
            port.isFull = true
            await first.disconnect()
            await bed.wait(.seconds(1))
            #expect(await server.linkNumbers == [1, 2])
            port.isFull = false
        }
    }

    @Test("a link whose end was among lost packets ends, and others stay")
    func lostEndIsNoticed() async throws {
        try await Hosts.run { hosts in
            let sample = try await hosts.second.sample()
            await hosts.loseEnd()
            // The loss is reported twice, the second time before the controller has answered.
            hosts.port.lose(1)
            await hosts.bed.wait(.seconds(1))
            #expect(await hosts.server.linkNumbers == [2])
            #expect(hosts.questions == 2)
            #expect(try await hosts.second.read(sample) == [1])
        }
    }

    @Test("a link stays doubtful until the controller has answered")
    func questionIsRepeated() async throws {
        try await Hosts.run { hosts in
            hosts.controller.script(.readRSSI, .silence, times: 1)
            await hosts.loseEnd()
            await hosts.bed.wait(.seconds(60))
            #expect(await hosts.server.linkNumbers == [2])
        }
    }

    @Test("the end of a link whose question waits does not end the questions for others")
    func questionIsWithdrawn() async throws {
        try await Hosts.run(maximumLinks: 3) { hosts in
            let third = try await hosts.bed.host("third").connect(to: hosts.server)
            // The answer to this command is lost, and with it the only credit.
            hosts.port.isFull = true
            let asking = hosts.bed.task { _ = try await hosts.server.send(ReadBDADDR()) }
            await third.disconnect()
            await hosts.bed.wait(.seconds(1))
            hosts.port.isFull = false
            await hosts.bed.wait(.milliseconds(1))
            await hosts.first.disconnect()
            await #expect(throws: BLEError.controllerSilent(command: HCIOpcode.readBDADDR)) {
                try await asking.value
            }
            await hosts.bed.wait(.seconds(60))
            #expect(await hosts.server.linkNumbers == [2])
        }
    }

    @Test("a question waits for the one credit of a controller whose last answer was lost")
    func questionWaitsForCredit() async throws {
        try await Hosts.run { hosts in
            hosts.port.isFull = true
            let asking = hosts.bed.task { _ = try await hosts.server.send(ReadBDADDR()) }
            await hosts.loseEnd()
            await #expect(throws: BLEError.controllerSilent(command: HCIOpcode.readBDADDR)) {
                try await asking.value
            }
            await hosts.bed.wait(.seconds(60))
            #expect(await hosts.server.linkNumbers == [2])
        }
    }

    @Test("the same device on the same handle is another link when the end of the first was lost")
    func deviceIsBack() async throws {
        try await Hosts.run { hosts in
            hosts.controller.script(.readRSSI, .silence)
            await hosts.loseEnd()
            let address = HCIAddress(hosts.firstAddress)
            hosts.controller.emit(
                LEConnectionComplete(
                    connection: LinkedHosts.handle, role: .peripheral,
                    peer: address,
                    interval: ConnectionInterval(rawValue: 24), latency: 0,
                    supervisionTimeout: Centiseconds(rawValue: 400)
                ).packet)
            await hosts.bed.wait(.milliseconds(1))
            #expect(await hosts.server.linkNumbers == [2, 3])
        }
    }

    @Test(
        "an encrypted link ends when its handle may have become another device's",
        arguments: [(3, false), (2, true)])
    func encryptedLinkEnds(maximumLinks: Int, stays: Bool) async throws {
        try await Hosts.run(maximumLinks: maximumLinks) { hosts in
            try await hosts.first.pair()
            hosts.port.lose(1)
            await hosts.bed.wait(.seconds(1))
            #expect(await hosts.server.linkNumbers == (stays ? [1, 2] : [2]))
            if !stays {
                #expect(
                    try await hosts.first.disconnection() == .status(.remoteDeviceTerminatedLowResources))
            }
        }
    }

    @Test("a link whose packets the controller does not complete any more ends")
    func lostCreditEndsLink() async throws {
        try await VirtualTestbed.run { bed in
            let port = OverflowingPort(await bed.port())
            let (client, server) = (try await bed.host("client", on: port), try await bed.host("server"))
            let value = GATTCharacteristic(
                Sample.value, properties: [.read, .writeWithoutResponse], value: .stored([1]))
            try await PeripheralManager(server).publish([
                GATTService(Sample.service, characteristics: [value])
            ])
            _ = try await server.advertise()
            let device = try await client.connect(to: server)
            let sample = try await device.sample()
            // The report of this packet is only late.
            try await device.writeWithoutResponse([2], to: sample)
            port.lose(1)
            await bed.wait(.seconds(60))
            #expect(try await device.read(sample) == [2])
            port.isFull = true
            let writing = bed.task { try await device.writeWithoutResponse([3], to: sample) }
            await bed.wait(.seconds(1))
            port.isFull = false
            _ = try? await writing.value
            let before = bed.loop.now
            #expect(try await device.disconnection() == .status(.connectionTerminatedByLocalHost))
            #expect(before.duration(until: bed.loop.now) <= LossReview.flightLimit)
        }
    }
}

/// A review whose changes a test can expect.
private final class PlayedReview {
    private var review = LossReview()

    var deadline: Instant? { review.deadline }
    func doubts(_ link: LinkID) -> Bool { review.doubts(link) }
    func lose(_ flights: LossReview.Flight..., at now: Instant = .zero) {
        review.packetsWereLost(on: flights, at: now)
    }
    func nextQuestion() -> LinkID? { review.nextQuestion() }
    func answered(_ answer: CommandAnswer, of link: LinkID) -> Bool { review.answered(answer, of: link) }
    func expire(at now: Instant, _ flights: LossReview.Flight...) -> [LinkID] {
        review.expire(at: now, flights)
    }
    func remove(_ link: LinkID) { review.remove(link) }
    func add(_ link: LinkID) { review.add(link) }
}

/// The questions after a loss, and the links whose packets are not completed.
@Suite struct LossReviewTests {
    private let one = LinkID(number: 1)
    private let two = LinkID(number: 2)

    private func flight(_ link: LinkID, held: Int = 0, completed: Int = 0) -> LossReview.Flight {
        LossReview.Flight(link: link, held: held, completed: completed)
    }

    @Test func linksAreAskedForInTurn() {
        let review = PlayedReview()
        review.lose(flight(one), flight(two))
        #expect(review.nextQuestion() == one)
        #expect(review.nextQuestion() == nil)
        #expect(review.doubts(one) && review.doubts(two))
        #expect(!review.answered(.done([]), of: one))
        #expect(!review.doubts(one))
        #expect(review.nextQuestion() == two)
        #expect(review.answered(.refused(.unknownConnectionIdentifier), of: two))
        #expect(review.nextQuestion() == nil)
        #expect(review.deadline == nil)
    }

    @Test func linkIsAskedForAgain() {
        let review = PlayedReview()
        review.lose(flight(one))
        #expect(review.nextQuestion() == one)
        // The answer may have been given before these packets were lost.
        review.lose(flight(one))
        #expect(!review.answered(.done([]), of: one))
        #expect(review.nextQuestion() == one)
        #expect(!review.answered(.silent, of: one))
        #expect(review.doubts(one))
        #expect(review.nextQuestion() == one)
        // Packets from before the loss still report links.
        review.add(two)
        #expect(!review.answered(.malformed(.missingStatus), of: one))
        #expect(review.nextQuestion() == two)
        #expect(!review.answered(.done([]), of: two))
        review.add(LinkID(number: 3))
        #expect(review.nextQuestion() == nil)
    }

    @Test func endedLinkIsForgotten() {
        let review = PlayedReview()
        review.lose(flight(one, held: 1), flight(two))
        #expect(review.nextQuestion() == one)
        review.remove(one)
        #expect(!review.answered(.refused(.unknownConnectionIdentifier), of: one))
        #expect(review.nextQuestion() == two)
        #expect(review.deadline == nil)
    }

    @Test func packetsThatAreNotCompletedEndTheirLink() {
        let review = PlayedReview()
        review.lose(flight(one, held: 2), flight(two, held: 1))
        var now = Instant.zero + .seconds(30)
        // A later loss does not extend the wait.
        review.lose(flight(one, held: 2), flight(two, held: 1), at: now)
        #expect(review.deadline == Instant.zero + LossReview.flightLimit)
        #expect(review.expire(at: now, flight(one, held: 2), flight(two, held: 1)) == [])
        now = .zero + .seconds(40)
        #expect(review.expire(at: now, flight(one, held: 2, completed: 4), flight(two, held: 3)) == [two])
        now = .zero + .seconds(80)
        #expect(review.deadline == now)
        #expect(review.expire(at: now, flight(one, held: 2, completed: 4)) == [one])
        #expect(review.deadline == nil)
    }

    @Test func completedPacketsEndTheWatch() {
        let review = PlayedReview()
        review.lose(flight(one, held: 2))
        #expect(review.expire(at: .zero + .seconds(40), flight(one, completed: 2)) == [])
        #expect(review.deadline == nil)
    }
}

/// The links of an adapter, and their handles.
@Suite struct LinkTableTests {
    /// Adds a link with a handle.
    private func add(_ handle: ConnectionHandle, to table: inout LinkTable) throws -> Link {
        let own = try #require(DeviceAddress("02:00:00:00:00:01/public"))
        let peer = try #require(DeviceAddress("02:00:00:00:00:02/public"))
        let link = Link(
            table.nextID(), to: peer, onAir: peer, as: .central, over: .acl(handle), radio: .unknown,
            mtu: .default,
            pairing: SecurityManager(
                role: .central, own: own, peer: peer, policy: PairingPolicy(),
                identity: LocalIdentity(address: own, identityKey: 1), random: SplitMix64(seed: 1)),
            bond: nil)
        table.insert(link)
        return link
    }

    @Test("a handle that another link gets is no longer that of its former holder")
    func handleChangesHands() throws {
        var table = LinkTable()
        let handles = (ConnectionHandle(0x0040), ConnectionHandle(0x0041))
        let (first, second) = (try add(handles.0, to: &table), try add(handles.1, to: &table))
        table.assign(handles.0, to: second)
        #expect(first.handle == nil && second.handle == handles.0)
        #expect(table[handles.0] === second)
        let third = try add(handles.0, to: &table)
        #expect(second.handle == nil && table[handles.0] === third)
        // The end of a former holder does not affect the link that has the handle.
        #expect(table.remove(second)?.handle == nil)
        #expect(table[handles.0] === third)
        #expect(table.remove(third)?.handle == handles.0)
        #expect(table.map(\.id) == [first.id])
    }
}

extension Adapter {
    /// The numbers of the adapter's links.
    fileprivate var linkNumbers: [UInt64] { links.map(\.id.number) }
}
