import BLECore
import HCI
import Testing
import VirtualController

@Suite struct AuthenticatedPayloadTests {
    static func expired(_ handle: ConnectionHandle) -> HCIEvent {
        .authenticatedPayloadTimeoutExpired(AuthenticatedPayloadTimeoutExpired(connection: handle))
    }

    /// Returns two controllers whose connection has a supervision timeout of 30 s. Only the central's host
    /// enables the event.
    private static func pair() throws -> (Bench, (ID, ConnectionHandle), (ID, ConnectionHandle)) {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        var parameters = Bench.parameters
        parameters.supervisionTimeout = Centiseconds(rawValue: 3000)
        let (one, other) = try bench.connect(central, to: peripheral, parameters: parameters)
        bench.perform(
            SetEventMaskPage2(mask: [.authenticatedPayloadTimeoutExpired]), on: central)
        return (bench, (central, one), (peripheral, other))
    }

    @Test func authenticatedPayloadTimeoutIsReadAndWritten() throws {
        var (bench, central, _) = try Self.pair()
        let (id, handle) = central
        #expect(
            try bench.ask(ReadAuthenticatedPayloadTimeout(connection: handle), on: id)
                == ReturnedForConnection(handle, Centiseconds(rawValue: 0x0bb8)), "30 s at first")
        // The interval is 30 ms.
        for (steps, status) in [
            (0, .invalidCommandParameters), (2, .invalidCommandParameters), (3, .success), (0xffff, .success),
        ] as [(UInt16, HCIStatus)] {
            let command = WriteAuthenticatedPayloadTimeout(
                connection: handle, timeout: Centiseconds(rawValue: steps))
            #expect(bench.status(command, on: id) == status)
        }
        #expect(
            try bench.ask(ReadAuthenticatedPayloadTimeout(connection: handle), on: id).value.rawValue
                == 0xffff)
        let nowhere = ConnectionHandle(0x0123)
        #expect(
            bench.status(ReadAuthenticatedPayloadTimeout(connection: nowhere), on: id)
                == .unknownConnectionIdentifier)
        #expect(
            bench.status(
                WriteAuthenticatedPayloadTimeout(connection: nowhere, timeout: Centiseconds(rawValue: 9)),
                on: id) == .unknownConnectionIdentifier)
    }

    /// The peripheral may skip connection events, so it cannot authenticate itself more often than it listens.
    @Test func timeoutCannotBeShorterThanLatency() throws {
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        var parameters = Bench.parameters
        (parameters.latency, parameters.supervisionTimeout) = (3, Centiseconds(rawValue: 100))
        let (one, _) = try bench.connect(central, to: peripheral, parameters: parameters)
        func write(_ steps: UInt16) -> HCIStatus {
            bench.status(
                WriteAuthenticatedPayloadTimeout(
                    connection: one, timeout: Centiseconds(rawValue: steps)), on: central)
        }
        #expect(write(11) == .invalidCommandParameters)
        #expect(write(12) == .success, "120 ms: four intervals of 30 ms")
    }

    @Test func silentEncryptedLinkReportsPayloadTimeout() throws {
        var (bench, central, peripheral) = try Self.pair()
        let write = WriteAuthenticatedPayloadTimeout(
            connection: central.1, timeout: Centiseconds(rawValue: 500))
        bench.perform(write, on: central.0)
        bench.setRSSI(nil, between: central.0, and: peripheral.0)
        bench.run(for: .seconds(10))
        #expect(bench.events(central.0).isEmpty, "without encryption there is nothing to prove")
        bench.setRSSI(-60, between: central.0, and: peripheral.0)
        bench.encrypt(central, peripheral)
        bench.run(for: .seconds(60))
        #expect(bench.events(central.0).isEmpty, "pings come in time")

        bench.setRSSI(nil, between: central.0, and: peripheral.0)
        bench.run(for: .milliseconds(4999))
        #expect(bench.events(central.0).isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench.events(central.0) == [Self.expired(central.1)])
        bench.run(for: .seconds(5))
        #expect(bench.events(central.0) == [Self.expired(central.1)], "and again")
        // A write restarts the timeout.
        bench.run(for: .seconds(4))
        bench.perform(write, on: central.0)
        bench.run(for: .milliseconds(4999))
        #expect(bench.events(central.0).isEmpty)
        bench.setRSSI(-60, between: central.0, and: peripheral.0)
        bench.run(for: .seconds(60))
        #expect(bench.events(central.0).isEmpty)
        #expect(bench.events(peripheral.0).isEmpty, "its host does not want the event")
    }

    @Test func connectionTimeoutPreemptsPayloadTimeout() throws {
        var (bench, central, peripheral) = try Self.pair()
        bench.encrypt(central, peripheral)
        bench.remove(peripheral.0)
        bench.run(for: .seconds(60))
        #expect(bench.events(central.0) == [DisconnectionTests.ended(central.1, .connectionTimeout)])
    }
}
