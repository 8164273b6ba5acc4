import BLECore
import HCI
import Testing
import VirtualController

@Suite struct AirTests {
    /// Runs three controllers for 2 s and returns all packets to their hosts.
    static func life(seed: UInt64, _ conditions: VirtualAir.Conditions) -> [[HCIPacket]] {
        var bench = Bench(seed: seed, conditions: conditions)
        let (central, peripheral, scanner) = (bench.join(), bench.join(), bench.join())
        bench.scan(on: scanner, .active)
        bench.advertise(on: peripheral)
        bench.perform(bench.creation(to: peripheral), on: central)
        for step in 0..<20 {
            bench.run(for: .milliseconds(100))
            if step % 5 == 0 {
                bench.send(
                    .acl(
                        ACLPacket(handle: ConnectionHandle(0x0040), boundary: .firstNonFlushable, data: [1])),
                    on: central)
            }
        }
        return [central, peripheral, scanner].map { bench.packets($0) }
    }

    @Test func sameSeedReproducesSameRun() {
        for conditions in [VirtualAir.Conditions(), .init(loss: 0.3, delay: .milliseconds(7))] {
            #expect(Self.life(seed: 5, conditions) == Self.life(seed: 5, conditions))
        }
    }

    @Test func lossDropsAdvertisementsButNotData() throws {
        var bench = Bench(conditions: .init(loss: 0.5))
        let (advertiser, scanner) = (bench.join(), bench.join())
        bench.scan(on: scanner)
        bench.advertise(on: advertiser)
        bench.run(for: .seconds(20))
        #expect((50...140).contains(bench.reports(scanner).count), "about half of 190")

        // Data on a connection arrive late, but completely and in order.
        var (pair, central, peripheral, one, _) = try Bench.pair()
        pair.air.conditions = .init(loss: 0.5, delay: .milliseconds(1))
        for octet: UInt8 in 1...12 {
            pair.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [octet])), on: central)
        }
        pair.run(for: .seconds(5))
        #expect(pair.data(peripheral).map(\.data) == (1...12).map { [$0] })
        #expect(pair.air.deadline == nil)
    }

    /// Each loss of a packet delays the data by one connection interval.
    @Test func lossOnLinkDelaysDataByWholeIntervals() throws {
        var slowest = Bench.parameters
        slowest.intervalMin = ConnectionInterval(rawValue: 80)
        slowest.intervalMax = ConnectionInterval(rawValue: 80)
        slowest.supervisionTimeout = Centiseconds(rawValue: 3200)
        for (parameters, interval): (LEConnectionParameters, Int64) in [
            (Bench.parameters, 30), (slowest, 100),
        ] {
            var bench = Bench()
            let (central, peripheral) = (bench.join(), bench.join())
            let handles = try bench.connect(central, to: peripheral, parameters: parameters)
            bench.air.conditions = .init(loss: 0.4)
            var waits: [Int64] = []
            for octet: UInt8 in 0..<40 {
                bench.send(
                    .acl(
                        ACLPacket(handle: handles.central, boundary: .firstNonFlushable, data: [octet])),
                    on: central)
                let start = bench.now
                while bench.data(peripheral).isEmpty, start.duration(until: bench.now) < .seconds(9) {
                    bench.run(for: .milliseconds(10))
                }
                waits.append(start.duration(until: bench.now).nanoseconds / 1_000_000)
                bench.run(for: .seconds(2))
            }
            #expect(waits.allSatisfy { $0 % interval == 0 }, "\(waits)")
            #expect(Set(waits).count > 2)
        }
    }

    /// A link with traffic ends if one packet is lost for the whole supervision timeout. An idle link ends only
    /// if all packets are lost for that time.
    @Test func lossForSupervisionTimeoutEndsLink() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.air.conditions = .init(loss: 0.999)
        bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])), on: central)
        bench.run(for: .milliseconds(419))
        #expect(bench.packets(central).isEmpty && bench.packets(peripheral).isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.events(central) == [DisconnectionTests.ended(one, .connectionTimeout)])
        #expect(bench.events(peripheral) == [DisconnectionTests.ended(other, .connectionTimeout)])

        var (quiet, left, right, near, far) = try Bench.pair()
        quiet.air.conditions = .init(loss: 1)
        quiet.run(for: .milliseconds(300))
        quiet.air.conditions = .init()
        quiet.run(for: .seconds(2))
        #expect(quiet.packets(left).isEmpty, "it came back in time")
        quiet.air.conditions = .init(loss: 1)
        quiet.run(for: .milliseconds(420))
        #expect(quiet.events(left) == [DisconnectionTests.ended(near, .connectionTimeout)])
        #expect(quiet.events(right) == [DisconnectionTests.ended(far, .connectionTimeout)])
    }

    @Test func lostConnectionRequestEndsAsNotEstablished() {
        var outcomes: Set<HCIStatus> = []
        for seed: UInt64 in 0..<40 {
            var bench = Bench(seed: seed, conditions: .init(loss: 0.4))
            let (central, peripheral) = (bench.join(), bench.join())
            bench.perform(bench.creation(to: peripheral), on: central)
            bench.advertise(on: peripheral)
            bench.run(for: .seconds(3))
            for case .disconnectionComplete(let event) in bench.events(central) {
                outcomes.insert(event.reason)
            }
            // Both sides have a connection or, after the supervision timeout, neither has one.
            let counts = [central, peripheral].map { bench.air.controller($0)?.connections.count }
            #expect(counts == [1, 1] || counts == [0, 0])
        }
        #expect(outcomes == [.connectionFailedToBeEstablished])
    }

    /// A connection is established and used despite a long delay. A report, a request and its answer take 300 ms
    /// each, so that a procedure completes after 600 ms.
    @Test func connectionSurvivesLongSignalDelay() throws {
        var bench = Bench(conditions: .init(delay: .milliseconds(300)))
        let (central, peripheral) = (bench.join(), bench.join())
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.advertise(on: peripheral)
        bench.run(for: .milliseconds(299))
        #expect(bench.connections(central).isEmpty)
        bench.run(for: .milliseconds(601))
        let one = try #require(bench.connections(central).first).connection
        bench.perform(LEReadRemoteFeatures(connection: one), on: central)
        bench.run(for: .milliseconds(599))
        #expect(bench.events(central).isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.events(central).count == 1)
        bench.run(for: .seconds(60))
        #expect(bench.events(central).isEmpty, "it lasts")
    }

    /// The RSSI is that of the time at which a packet was sent, also if its sender has moved or is removed.
    @Test func delayedPacketKeepsLevelOfSending() throws {
        for isRemoved in [false, true] {
            var (bench, central, peripheral, one, other) = try Bench.pair()
            bench.air.conditions = .init(delay: .milliseconds(20))
            bench.setRSSI(-70, between: central, and: peripheral)
            bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])), on: central)
            if isRemoved {
                bench.remove(central)
            } else {
                bench.setRSSI(-40, between: central, and: peripheral)
            }
            bench.run(for: .milliseconds(20))
            #expect(bench.data(peripheral).count == 1)
            #expect(try bench.ask(ReadRSSI(connection: other), on: peripheral).value == -70)
        }
    }

    @Test func dataAndCompletionsAreDelayed() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.air.conditions = .init(delay: .milliseconds(20))
        bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])), on: central)
        bench.run(for: .milliseconds(19))
        #expect(bench.packets(peripheral).isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.data(peripheral).count == 1)
        #expect(bench.events(central).isEmpty)
        bench.run(for: .milliseconds(20))
        #expect(bench.events(central) == [DataTests.completed(one, 1)])

        // Data that were on their way when their sender was removed still arrive.
        bench.send(.acl(ACLPacket(handle: other, boundary: .firstNonFlushable, data: [1])), on: peripheral)
        bench.remove(peripheral)
        bench.run(for: .milliseconds(400))
        #expect(bench.data(central).count == 1)
    }

    @Test func connectionIsEstablishedDespiteDelay() {
        var bench = Bench(conditions: .init(delay: .milliseconds(10)))
        let (central, peripheral) = (bench.join(), bench.join())
        bench.perform(bench.creation(to: peripheral), on: central)
        bench.advertise(on: peripheral)
        bench.run(for: .seconds(3))
        #expect(bench.events(central).count == 1)
        #expect(bench.events(peripheral).count == 1)
    }

    @Test func nextPacketAlternatesBetweenHosts() {
        var air = VirtualAir(seed: 1)
        let (one, two) = (air.add(), air.add())
        for id in [one, one, two, two] {
            air.receive(HCIPacket.command(LERand().packet).encoded.span, from: id, at: .zero)
        }
        var order: [ID] = []
        while let (id, _) = air.nextPacket() { order.append(id) }
        #expect(order.prefix(2).first != order.prefix(2).last)
        #expect(order.count == 4)
    }

    @Test func removedControllersAreIgnored() {
        var air = VirtualAir(seed: 1)
        let gone = air.add()
        let there = air.add()
        air.remove(gone, at: .zero)
        air.remove(gone, at: .zero)
        air.receive(HCIPacket.command(Reset().packet).encoded.span, from: gone, at: .zero)
        air.setRSSI(nil, between: gone, and: there, at: .zero)
        #expect(air.nextPacket() == nil)
        #expect(air.nextPacket(for: gone) == nil)
        #expect(air.controller(gone) == nil)
        #expect(air.controllers == [there])
        let new = air.add()
        #expect(new != gone)
    }

    /// A late call of `expire` processes all events that were due, and a call for the last instant returns.
    @Test func lateDriverProcessesAllDueEvents() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.join(), bench.join())
        bench.scan(on: scanner)
        bench.advertise(on: advertiser)
        bench.air.expire(at: .zero + .seconds(10))
        bench.drain()
        #expect((90...101).contains(bench.reports(scanner).count))
        bench.air.expire(at: .zero)
        var late = Bench()
        let id = late.join()
        late.air.expire(at: Instant(nanoseconds: .max))
        late.advertise(on: id)
        #expect(late.air.controller(id)?.isActive == true)
    }
}
