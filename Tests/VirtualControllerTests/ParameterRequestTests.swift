import BLECore
import HCI
import Testing
import VirtualController

/// The Connection Parameters Request procedure: a peripheral requests parameters, which the central's host
/// accepts or refuses (Core Specification 5.4, Vol 6, Part B, 5.1.7).
@Suite struct ParameterRequestTests {
    static let wanted = LEConnectionParameters(
        intervalMin: ConnectionInterval(rawValue: 80), intervalMax: ConnectionInterval(rawValue: 160),
        latency: 3, supervisionTimeout: Centiseconds(rawValue: 600))

    static func question(_ connection: ConnectionHandle) -> HCIEvent {
        .leMeta(
            .remoteConnectionParameterRequest(
                LERemoteConnectionParameterRequest(
                    connection: connection, intervalMin: ConnectionInterval(rawValue: 80),
                    intervalMax: ConnectionInterval(rawValue: 160), latency: 3,
                    supervisionTimeout: Centiseconds(rawValue: 600))))
    }

    static func update(
        _ connection: ConnectionHandle, interval: UInt16 = 80, latency: UInt16 = 3, timeout: UInt16 = 600,
        status: HCIStatus = .success
    ) -> HCIEvent {
        .leMeta(
            .connectionUpdateComplete(
                LEConnectionUpdateComplete(
                    status: status, connection: connection, interval: ConnectionInterval(rawValue: interval),
                    latency: latency, supervisionTimeout: Centiseconds(rawValue: timeout))))
    }

    /// Returns the event for a request that did not change the parameters.
    static func unchanged(_ connection: ConnectionHandle, _ status: HCIStatus) -> HCIEvent {
        update(connection, interval: 24, latency: 0, timeout: 42, status: status)
    }

    @Test func acceptedRequestUpdatesParameters() throws {
        var (bench, central, peripheral, one, other) = try Bench.extendedPair()
        bench.perform(LEConnectionUpdate(connection: other, parameters: Self.wanted), on: peripheral)
        #expect(bench.events(central) == [Self.question(one)])
        #expect(bench.events(peripheral).isEmpty)
        #expect(
            bench.status(LEConnectionUpdate(connection: other, parameters: Self.wanted), on: peripheral)
                == .commandDisallowed, "it waits already")
        #expect(
            bench.status(LEConnectionUpdate(connection: one, parameters: Self.wanted), on: central)
                == .commandDisallowed, "the peer has asked first")
        var wrong = Self.wanted
        wrong.latency = 500
        #expect(
            bench.status(
                LERemoteConnectionParameterRequestReply(connection: one, parameters: wrong), on: central)
                == .invalidCommandParameters)
        bench.perform(
            LERemoteConnectionParameterRequestReply(connection: one, parameters: Self.wanted), on: central)
        #expect(bench.events(peripheral) == [Self.update(other)])
        // The central's host receives the event, too, although it did not request the change.
        #expect(bench.events(central) == [Self.update(one)])
        // For the same parameters, only the peripheral's host receives the event, as the answer to its request.
        bench.perform(LEConnectionUpdate(connection: other, parameters: Self.wanted), on: peripheral)
        bench.perform(
            LERemoteConnectionParameterRequestReply(connection: one, parameters: Self.wanted), on: central)
        #expect(bench.events(peripheral) == [Self.update(other)])
        #expect(bench.events(central) == [Self.question(one)])
    }

    @Test func refusedRequestLeavesParametersUnchanged() throws {
        var (bench, central, peripheral, one, other) = try Bench.extendedPair()
        for _ in 0..<2 {
            bench.perform(LEConnectionUpdate(connection: other, parameters: Self.wanted), on: peripheral)
            bench.perform(LERemoteConnectionParameterRequestNegativeReply(connection: one), on: central)
            #expect(bench.events(central) == [Self.question(one)])
            #expect(
                bench.events(peripheral) == [
                    Self.unchanged(other, .unacceptableConnectionParameters)
                ])
        }
    }

    @Test func replyWithoutRequestIsRefused() throws {
        var (bench, central, peripheral, one, other) = try Bench.extendedPair()
        for (id, handle) in [(central, one), (peripheral, other)] {
            #expect(
                bench.status(
                    LERemoteConnectionParameterRequestReply(connection: handle, parameters: Self.wanted),
                    on: id) == .commandDisallowed)
            #expect(
                bench.status(LERemoteConnectionParameterRequestNegativeReply(connection: handle), on: id)
                    == .commandDisallowed)
        }
        #expect(
            bench.status(
                LERemoteConnectionParameterRequestNegativeReply(connection: ConnectionHandle(0x0eff)),
                on: central) == .unknownConnectionIdentifier)
    }

    /// The central's host masks the event, or its controller does not support the procedure.
    @Test func requestFailsIfCentralDoesNotSupportIt() throws {
        var (bench, central, peripheral, _, other) = try Bench.extendedPair()
        bench.perform(LESetEventMask(mask: LEEventMask(rawValue: 0xff_ffdf)), on: central)
        bench.perform(LEConnectionUpdate(connection: other, parameters: Self.wanted), on: peripheral)
        #expect(bench.events(peripheral) == [Self.unchanged(other, .unsupportedRemoteFeature)])
        #expect(bench.packets(central).isEmpty)

        bench = Bench()
        let legacy = bench.join()
        let device = bench.join(.init(extended: .init()))
        let handles = try bench.connect(legacy, to: device)
        _ = bench.packets(device)
        bench.perform(LEConnectionUpdate(connection: handles.peripheral, parameters: Self.wanted), on: device)
        #expect(
            bench.events(device) == [
                Self.unchanged(handles.peripheral, .unsupportedRemoteFeature)
            ])
    }

    /// The central disconnects after 40 s without an answer of its host, and the peripheral 420 ms later.
    @Test func unansweredRequestEndsConnectionAfter40Seconds() throws {
        var (bench, central, peripheral, one, other) = try Bench.extendedPair()
        bench.perform(LEConnectionUpdate(connection: other, parameters: Self.wanted), on: peripheral)
        bench.run(for: .milliseconds(39_999))
        #expect(bench.events(central) == [Self.question(one)])
        bench.run(for: .milliseconds(1))
        #expect(
            bench.events(central) == [
                .disconnectionComplete(DisconnectionComplete(connection: one, reason: .llResponseTimeout))
            ])
        bench.run(for: .milliseconds(420))
        #expect(
            bench.events(peripheral) == [
                Self.unchanged(other, .connectionTimeout),
                .disconnectionComplete(DisconnectionComplete(connection: other, reason: .connectionTimeout)),
            ])
    }

    /// Both hosts request another interval at the same time. The central's request takes effect.
    @Test func centralUpdateWinsCollision() throws {
        var (bench, central, peripheral, one, other) = try Bench.extendedPair()
        bench.air.conditions.delay = .milliseconds(30)
        var own = Self.wanted
        own.intervalMin = ConnectionInterval(rawValue: 100)
        bench.perform(LEConnectionUpdate(connection: one, parameters: own), on: central)
        bench.perform(LEConnectionUpdate(connection: other, parameters: Self.wanted), on: peripheral)
        bench.run(for: .seconds(1))
        #expect(bench.events(central) == [Self.update(one, interval: 100)])
        #expect(bench.events(peripheral) == [Self.update(other, interval: 100)])
    }
}
