import BLECore
import HCI
import Testing
import VirtualController

@Suite struct HostFlowTests {
    /// Returns a connected pair. The peripheral's host has buffers for two packets of 27 octets.
    private static func pair() throws -> (Bench, (ID, ConnectionHandle), (ID, ConnectionHandle)) {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        bench.perform(HostBufferSize(aclLength: 27, aclPackets: 2), on: peripheral)
        bench.perform(SetControllerToHostFlowControl(kinds: .acl), on: peripheral)
        let (one, other) = try bench.connect(central, to: peripheral)
        return (bench, (central, one), (peripheral, other))
    }

    private static func done(_ handle: ConnectionHandle, _ count: UInt16) -> HCIPacket {
        .command(
            HostNumberOfCompletedPackets(
                completed: [CompletedPackets(connection: handle, count: count)]
            ).packet)
    }

    @Test func dataWaitsForHostBuffers() throws {
        var (bench, central, peripheral) = try Self.pair()
        bench.send([1, 2, 3, 4], central.1, on: central.0)
        #expect(bench.data(peripheral.0).map(\.data) == [[1], [2]])
        #expect(
            bench.events(central.0) == [HCIEvent](repeating: DataTests.completed(central.1, 1), count: 2),
            "what the host has not taken is not completed")
        // Events need no buffers.
        bench.perform(LEReadRemoteFeatures(connection: peripheral.1), on: peripheral.0)
        #expect(bench.events(peripheral.0).count == 1)
        bench.send(Self.done(peripheral.1, 1), on: peripheral.0)
        #expect(
            bench.packets(peripheral.0)
                == [.acl(ACLPacket(handle: peripheral.1, boundary: .firstFlushable, data: [3]))],
            "and no answer to the command")
        bench.send([5], central.1, on: central.0)
        bench.send(Self.done(peripheral.1, 2), on: peripheral.0)
        #expect(bench.data(peripheral.0).map(\.data) == [[4], [5]], "in their order")
    }

    @Test func longPacketsAreSplitToHostBufferSize() throws {
        var (bench, central, peripheral) = try Self.pair()
        let data = [UInt8](0..<60)
        bench.send(
            .acl(ACLPacket(handle: central.1, boundary: .firstNonFlushable, data: data)), on: central.0)
        #expect(
            bench.data(peripheral.0) == [
                ACLPacket(handle: peripheral.1, boundary: .firstFlushable, data: Array(data[..<27])),
                ACLPacket(handle: peripheral.1, boundary: .continuing, data: Array(data[27..<54])),
            ])
        #expect(bench.events(central.0).isEmpty, "the host has not taken all of it")
        bench.send(Self.done(peripheral.1, 2), on: peripheral.0)
        #expect(
            bench.data(peripheral.0)
                == [ACLPacket(handle: peripheral.1, boundary: .continuing, data: Array(data[54...]))])
        #expect(bench.events(central.0) == [DataTests.completed(central.1, 1)])
    }

    /// A disconnection frees the host's buffers. Data that waited for them are discarded.
    @Test func disconnectionFreesHostBuffers() throws {
        var (bench, central, peripheral) = try Self.pair()
        bench.send([1, 2, 3], central.1, on: central.0)
        bench.perform(Disconnect(connection: central.1), on: central.0)
        #expect(bench.data(peripheral.0).map(\.data) == [[1], [2]])
        _ = (bench.packets(central.0), bench.packets(peripheral.0))
        let (one, other) = try bench.connect(central.0, to: peripheral.0)
        bench.send([4, 5], one, on: central.0)
        #expect(
            bench.data(peripheral.0) == [
                ACLPacket(handle: other, boundary: .firstFlushable, data: [4]),
                ACLPacket(handle: other, boundary: .firstFlushable, data: [5]),
            ])
    }

    @Test func invalidFlowControlCommandsAreRefused() throws {
        var bench = Bench()
        let id = bench.join()
        for size in [
            HostBufferSize(aclLength: 26, aclPackets: 1), HostBufferSize(aclLength: 27, aclPackets: 0),
        ] {
            #expect(bench.status(size, on: id) == .invalidCommandParameters)
        }
        #expect(
            bench.status(SetControllerToHostFlowControl(kinds: .init(rawValue: 4)), on: id)
                == .invalidCommandParameters)

        var (pair, _, (peripheral, handle)) = try Self.pair()
        #expect(
            pair.status(SetControllerToHostFlowControl(kinds: []), on: peripheral) == .commandDisallowed)
        #expect(pair.status(SetControllerToHostFlowControl(kinds: .acl), on: peripheral) == .success)
        #expect(
            pair.status(HostBufferSize(aclLength: 27, aclPackets: 9), on: peripheral) == .commandDisallowed)
        // A packet that the host has not received, and a connection that does not exist.
        for packet in [Self.done(handle, 1), Self.done(ConnectionHandle(0x0123), 0)] {
            pair.send(packet, on: peripheral)
            let answers = pair.packets(peripheral).map {
                $0.answer(to: .hostNumberOfCompletedPackets)?.status
            }
            #expect(answers == [.invalidCommandParameters])
        }
    }

    /// Host Number Of Completed Packets is ignored without flow control, and without connections.
    @Test func uncountedCompletionsAreIgnored() throws {
        var (bench, central, peripheral, one, _) = try Bench.pair()
        bench.send(Self.done(one, 7), on: central)
        bench.perform(Disconnect(connection: one), on: central)
        _ = bench.packets(central)
        bench.perform(SetControllerToHostFlowControl(kinds: .acl), on: central)
        bench.send(Self.done(one, 7), on: central)
        #expect(bench.packets(central).isEmpty)
        _ = bench.packets(peripheral)
    }
}
