import BLECore
import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

/// A pseudo terminal: `path` is opened as a serial port, and `controller` is the other end of the line.
private final class Terminal {
    let controller: CInt
    let path: String

    init() throws {
        // TIOCSPTLCK and TIOCGPTN: Swift's Glibc has no posix_openpt.
        var (unlocked, number): (CInt, CInt) = (0, 0)
        controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        try #require(controller >= 0)
        try #require(ioctl(controller, 0x4004_5431, &unlocked) == 0)
        try #require(ioctl(controller, 0x8004_5430, &number) == 0)
        path = "/dev/pts/\(number)"
    }

    deinit { close(controller) }
}

@Suite(.timeLimit(.minutes(10))) struct SerialLineTests {
    private func settings(_ descriptor: CInt) throws -> clinux_termios2 {
        var settings = clinux_termios2()
        try #require(ioctl(descriptor, CLINUX_TCGETS2, &settings) == 0)
        return settings
    }

    @Test(
        "a line is opened raw, at any speed", arguments: [9600, 115_200, 1_234_567, 3_000_000] as [UInt32])
    func lineIsOpenedRawAtAnySpeed(baud: UInt32) throws {
        let terminal = try Terminal()
        let line = try SerialLine.open(terminal.path, baud: baud, flowControl: true)
        defer { close(line) }
        let settings = try settings(line)
        #expect((settings.c_ispeed, settings.c_ospeed) == (baud, baud))
        #expect((settings.c_iflag, settings.c_oflag, settings.c_lflag) == (0, 0, 0))
        #expect(settings.c_cflag & UInt32(CSIZE) == UInt32(CS8))
        #expect(settings.c_cflag & UInt32(PARENB | CSTOPB) == 0)
        #expect(fcntl(line, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(line, F_GETFD) & FD_CLOEXEC != 0)
        #expect(SerialLine.isOne(line))
    }

    @Test("RTS/CTS flow control follows the option", arguments: [true, false])
    func flowControlFollowsOption(isOn: Bool) throws {
        let terminal = try Terminal()
        let line = try SerialLine.open(terminal.path, baud: 115_200, flowControl: isOn)
        defer { close(line) }
        #expect((try settings(line).c_cflag & CLINUX_CRTSCTS != 0) == isOn)
    }

    @Test("opening a line discards its old input")
    func openingDiscardsInput() throws {
        let terminal = try Terminal()
        let before = open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        try #require(before >= 0)
        defer { close(before) }
        // A complete line, because the terminal delivers only lines until it is set to octets.
        #expect(writeSome(Array("old\n".utf8)[...], to: terminal.controller) == 4)
        var wait = pollfd(fd: before, events: Int16(POLLIN), revents: 0)
        #expect(poll(&wait, 1, 60_000) == 1)
        let line = try SerialLine.open(terminal.path, baud: 115_200, flowControl: false)
        defer { close(line) }
        #expect(readAll(from: line).isEmpty)
        // The line is empty, but not at its end: octets that arrive now are read.
        #expect(writeSome([7], to: terminal.controller) == 1)
        #expect(poll(&wait, 1, 60_000) == 1)
        #expect(readAll(from: line) == [7])
    }

    @Test("a line that is already open is busy")
    func openLineIsBusy() throws {
        let terminal = try Terminal()
        let line = try SerialLine.open(terminal.path, baud: 115_200, flowControl: false)
        defer { close(line) }
        // The call that fails depends on whether the process runs as root.
        let error = #expect(throws: PortError.self) {
            try SerialLine.open(terminal.path, baud: 115_200, flowControl: false)
        }
        #expect(error?.errno == .resourceBusy)
    }

    @Test("missing files and files that are not serial lines throw different errors")
    func missingAndOtherFilesAreRefused() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path("file")
        #expect(throws: PortError.system(.noSuchFileOrDirectory, during: "open \(path)")) {
            try SerialLine.open(path, baud: 115_200, flowControl: false)
        }
        try makeFile(path)
        #expect(throws: PortError.system(Errno(rawValue: ENOTTY), during: "ioctl TIOCEXCL")) {
            try SerialLine.open(path, baud: 115_200, flowControl: false)
        }
        let (near, far) = socketPair(.stream)
        #expect(!SerialLine.isOne(near))
        for end in [near, far] { close(end) }
    }

    @Test(
        "packets pass both ways over a line, including control octets, and its end closes the port")
    func packetsPassBothWaysOverLine() async throws {
        let loop = try EventLoop()
        let outcome = await Task(executorPreference: loop) {
            let terminal = try Terminal()
            let line = try SerialLine.open(terminal.path, baud: 115_200, flowControl: false)
            let host = PortLog(loop, H4Port(line, on: loop))
            let controller = PortLog(loop, H4Port(dup(terminal.controller), on: loop))
            try await host.start()
            try await controller.start()
            // The octets include those of ^C, ^D, ^Q, ^S and the ends of lines.
            let packet = [0x02, 0x40, 0x00, 0x00, 0x01] + counting(256)
            await host.send(packet)
            await controller.wait(for: 1)
            #expect(await controller.entries == [.received(packet)])
            await controller.send(packet)
            await host.wait(for: 1)
            #expect(await host.entries == [.received(packet)])
            // Both descriptors of the other end are closed: the port's here, and the first one with the
            // terminal.
            await controller.close()
            withExtendedLifetime(terminal) {}
            return host
        }.result
        let host = try outcome.get()
        await host.wait(for: 2)
        #expect(await host.entries.last == .closed(.ended))
        #expect(await !host.isWritable)
        loop.stop()
    }
}
