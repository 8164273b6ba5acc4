import ATT
import BLE
import BLECore
import Foundation
import GATTClient
import GATTServer
import HCI
import HCISocket
import SMP
import SystemPackage
import Testing

@testable import bletool

/// All cases of the library's errors with the failure that the tool reports: its kind, which determines the
/// exit status, its message, the number of a protocol, and its hint.
struct ErrorTableTests {
    struct Row: Sendable {
        let error: BLEError
        let kind: Failure.Kind
        let message: String
        let number: Int?
        let hint: String?

        init(
            _ error: BLEError, _ kind: Failure.Kind, _ message: String, number: Int? = nil,
            hint: String? = nil
        ) {
            (self.error, self.kind, self.message) = (error, kind, message)
            (self.number, self.hint) = (number, hint)
        }
    }

    private static let peer = DeviceAddress(0xc0de_0000_0001, type: .random)
    private static let other = DeviceAddress(0xc0de_0000_0002, type: .random)
    private static let malformed = DecodeError(
        packet: "LE buffer size", field: "Total_Num_LE_ACL_Data_Packets", offset: 2,
        reason: .truncated(needed: 1, available: 0))

    static let rows: [Row] = [
        Row(
            .adapter(.missing(.serial(path: "/dev/ttyACM0", baud: 1_000_000, flowControl: true))), .adapter,
            "read: there is no serial port /dev/ttyACM0",
            hint: "without a radio, commands with --adapter virtual work on a simulated controller"),
        Row(
            .adapter(.missing(.kernel(.index(3)))), .adapter, "read: there is no adapter hci3",
            hint: "without a radio, commands with --adapter virtual work on a simulated controller"),
        Row(
            .adapter(.noAdapter), .adapter, "read: the kernel has no adapter",
            hint: "without a radio, commands with --adapter virtual work on a simulated controller"),
        Row(
            .adapter(.unreachable(.unix(path: "/run/hci"), .system(.connectionRefused, during: "connect"))),
            .adapter, "read: nothing listens at unix:/run/hci (connect: Connection refused)",
            hint: "bletool air --listen unix:/run/hci starts a virtual air there"),
        Row(
            .adapter(
                .unreachable(.unix(path: "/dev/null"), .system(.connectionRefused, during: "connect"))),
            .adapter, "read: nothing listens at unix:/dev/null (connect: Connection refused)",
            hint: "\"/dev/null\" is not a socket"),
        Row(
            .adapter(
                .unreachable(
                    .unix(path: "/dev/none/air"), .system(.noSuchFileOrDirectory, during: "connect"))),
            .adapter, "read: nothing listens at unix:/dev/none/air (connect: No such file or directory)",
            hint: "there is no folder \"/dev/none\""),
        Row(
            .adapter(
                .unreachable(
                    .tcp(host: "192.0.2.1", port: 9000), .system(.connectionRefused, during: "connect"))),
            .adapter, "read: nothing listens at tcp:192.0.2.1:9000 (connect: Connection refused)"),
        Row(
            .adapter(
                .unreachable(.tcp(host: "192.0.2.1", port: 9000), .system(.timedOut, during: "connect"))),
            .adapter, "read: nothing answers at tcp:192.0.2.1:9000"),
        Row(.adapter(.notSerial(path: "/dev/null")), .adapter, "read: /dev/null is not a serial port"),
        Row(
            .adapter(.noBluetooth), .adapter, "read: the kernel has no Bluetooth (AF_BLUETOOTH)",
            hint:
                "modprobe bluetooth, if the kernel has it as a module; without a radio, commands with --adapter virtual work on a simulated controller"
        ),
        Row(
            .adapter(.isolated), .adapter,
            "read: the kernel has Bluetooth, but not in this network namespace or sandbox (AF_BLUETOOTH)",
            hint:
                "run it in the host's network namespace (docker run --network=host, nsenter -t 1 -n) and let it open AF_BLUETOOTH sockets (RestrictAddressFamilies of a systemd unit); without a radio, commands with --adapter virtual work on a simulated controller"
        ),
        Row(
            .adapter(.blocked(.software)), .adapter, "read: the radio is switched off by rfkill",
            hint: "rfkill unblock bluetooth"),
        Row(
            .adapter(.blocked(.hardware)), .adapter,
            "read: the radio is switched off by a hardware switch or key",
            hint: "rfkill list shows which switch it is"),
        Row(
            .adapter(.poweredOff), .adapter, "read: the adapter is powered off",
            hint: "bluetoothctl power on, or run with CAP_NET_ADMIN"),
        Row(
            .adapter(.cannotPower(0, .management(.failed))), .adapter,
            "read: the driver cannot power on the adapter (hci0: failed)",
            hint:
                "dmesg | grep -iE 'bluetooth|firmware' shows why: often the firmware's package is not installed"
        ),
        Row(
            .adapter(.cannotPower(0, .system(.system(.ioError, during: "HCIDEVUP")))), .adapter,
            "read: the driver cannot power on the adapter (hci0: HCIDEVUP: Input/output error)",
            hint:
                "dmesg | grep -iE 'bluetooth|firmware' shows why: often the firmware's package is not installed"
        ),
        Row(
            .adapter(.notSetUp(0)), .adapter, "read: the driver has not set hci0 up",
            hint:
                "dmesg | grep -iE 'bluetooth|firmware' shows why: often the firmware's package is not installed"
        ),
        Row(
            .adapter(.inUse(.process(4711))), .adapter, "read: the adapter is in use by process 4711",
            hint: "give another name: --adapter virtual:NAME, or virtual alone for a new controller"),
        Row(
            .adapter(.inUse(.userChannel([]))), .adapter,
            "read: the adapter is in use by another process, which uses it exclusively (HCI user channel)",
            hint: "end that program, or use another adapter: bletool adapters lists them"),
        Row(
            .adapter(.inUse(.userChannel([.init(name: "btmgmt", id: 12), .init(name: "zephyr", id: 13)]))),
            .adapter,
            "read: the adapter is in use by btmgmt (process 12) or zephyr (process 13), which uses it exclusively (HCI user channel)",
            hint: "end that program, or use another adapter: bletool adapters lists them"),
        Row(
            .adapter(.inUse(.serialPort(path: "/dev/ttyACM0"))), .adapter,
            "read: the adapter is in use by another process that has /dev/ttyACM0 open",
            hint: "end that program"),
        Row(
            .adapter(.inUse(.powerSwitch(0))), .adapter,
            "read: the adapter is in use by another program that switches hci0 on again",
            hint: "end that program, or use another adapter: bletool adapters lists them"),
        Row(
            .adapter(.inUse(.server(process: 4711))), .adapter,
            "read: the adapter is in use by the server of process 4711, which accepts centrals",
            hint: "end that program, or use another adapter: bletool adapters lists them"),
        Row(
            .adapter(.inUse(.server(process: nil))), .adapter,
            "read: the adapter is in use by the server of another process, which accepts centrals",
            hint: "end that program, or use another adapter: bletool adapters lists them"),
        Row(
            .adapter(.inUse(.advertising)), .adapter,
            "read: the adapter is in use by the advertising of the kernel or another program: the controller sends only one advertisement"
        ),
        Row(
            .adapter(.pairedBy(bluetoothDaemon: 812)), .adapter,
            "read: bluetoothd (process 812) pairs on this adapter and keeps its bonds",
            hint:
                "pair and list bonds with bluetoothctl, or stop bluetoothd (systemctl stop bluetooth); a device that is "
                + "bonded here needs its key: bletool bonds remove DEVICE, or --plain-text"),
        Row(
            .adapter(.unsupported(.lowEnergy)), .adapter,
            "read: the adapter does not support Bluetooth Low Energy"),
        Row(
            .adapter(.unsupported(.extendedAdvertising)), .adapter,
            "read: the adapter does not support extended advertising"),
        Row(
            .adapter(.unsupported(.extendedScanning)), .adapter,
            "read: the adapter does not support extended scanning"),
        Row(
            .adapter(.unsupported(.advertising(on: .leCoded))), .adapter,
            "read: the adapter does not support advertising on LE Coded"),
        Row(
            .adapter(.unsupported(.scanning(on: .leCoded))), .adapter,
            "read: the adapter does not support scanning on LE Coded"),
        Row(.adapter(.unsupported(.phy(.le2M))), .adapter, "read: the adapter does not support LE 2M"),
        Row(
            .adapter(.unsupported(.advertisingEventCount)), .adapter,
            "read: the adapter does not support counting advertising events"),
        Row(
            .adapter(.unsupported(.periodicAdvertising)), .adapter,
            "read: the adapter does not support periodic advertising"),
        Row(
            .adapter(.unsupported(.kernelPeriodicSync)), .adapter,
            "read: the adapter does not support periodic synchronization, which the kernel terminates",
            hint: "--adapter user:hciN takes the adapter from the kernel"),
        Row(
            .adapter(.unsupported(.privateAddresses)), .adapter,
            "read: the adapter does not support private addresses of this program's own: the kernel chooses the address"
        ),
        Row(
            .adapter(.unsupported(.transportFaults)), .adapter,
            "read: the adapter does not support transport faults: the kernel moves its packets"),
        Row(
            .adapter(.unsupported(.keyRefresh)), .adapter,
            "read: the adapter does not support new keys for a link that the kernel encrypts"),
        Row(
            .adapter(.unsupported(.linkCommands)), .adapter,
            "read: the adapter does not support commands for this link, whose handle the kernel does not report"
        ),
        Row(
            .adapter(.unsupported(.pairing)), .adapter,
            "read: the adapter does not support pairing unless the kernel's management socket has switched it on"
        ),
        Row(
            .adapter(.unsupported(.outOfBandPairing)), .adapter,
            "read: the adapter does not support pairing out of band"),
        Row(
            .adapter(.unsupported(.fixedPasskey)), .adapter,
            "read: the adapter does not support a passkey of this program's own: the kernel shows random ones"
        ),
        Row(
            .adapter(.unsupported(.secureConnections)), .adapter,
            "read: the adapter does not support LE Secure Connections"),
        Row(
            .adapter(.unsupported(.adapterNames)), .adapter,
            "read: the adapter does not support names of virtual adapters"),
        Row(.adapter(.removed), .adapter, "read: the adapter was removed"),
        Row(
            .adapter(.hungUp(.air)), .adapter, "read: the virtual air has ended",
            hint: "the program that ran it has ended; bletool air runs one until it is stopped"),
        Row(
            .adapter(.hungUp(.airAtOnce)), .adapter,
            "read: the virtual air accepts no more controllers, or has ended"),
        Row(
            .adapter(.hungUp(.airSilent(.seconds(60)))), .adapter,
            "read: the virtual air has not answered within 1 min"),
        Row(.adapter(.hungUp(.port)), .adapter, "read: the other end of the port closed it"),
        Row(.adapter(.hungUp(.stream)), .adapter, "read: the other end closed the connection"),
        Row(
            .adapter(.hungUp(.streamAtOnce)), .adapter,
            "read: the other end closed the connection at once, as a full air does"),
        Row(
            .adapter(.failed(.silence(command: .leSetScanEnable))), .adapter,
            "read: the controller does not answer LE Set Scan Enable, and recovery failed",
            hint:
                "run the command again, which power-cycles the adapter of user:hciN; otherwise unplug it and plug it in again, or reload its driver"
        ),
        Row(.adapter(.closed), .adapter, "read: the adapter was closed"),
        Row(
            .permission(.netRaw, for: .open(0)), .permission, "opening hci0: needs CAP_NET_RAW",
            hint: Grant.hint()),
        Row(
            .permission(.netRaw, for: .sendCommands(.kernel(.index(0)))), .permission,
            "sending commands to hci0: needs CAP_NET_RAW",
            hint: Grant.hint()),
        Row(
            .permission(.netRaw, for: .connect), .permission, "connecting: needs CAP_NET_RAW",
            hint: Grant.hint()),
        Row(
            .permission(.netRaw, for: .listen), .permission, "listening for centrals: needs CAP_NET_RAW",
            hint: Grant.hint()),
        Row(
            .permission(.netRaw, for: .record(0)), .permission, "recording hci0: needs CAP_NET_RAW",
            hint: Grant.hint()),
        Row(
            .permission(.netRaw, for: .record(nil)), .permission,
            "recording the kernel's adapters: needs CAP_NET_RAW",
            hint: Grant.hint()),
        Row(
            .permission(.netAdmin, for: .switchPower(0, on: true)), .permission,
            "switching hci0 on: needs CAP_NET_ADMIN",
            hint: Grant.hint()),
        Row(
            .permission(.netAdmin, for: .cyclePower(0)), .permission,
            "switching hci0 off and on: needs CAP_NET_ADMIN",
            hint: Grant.hint()),
        Row(
            .permission(.netAdmin, for: .switchLowEnergy(0, on: true)), .permission,
            "switching LE on for hci0: needs CAP_NET_ADMIN",
            hint: Grant.hint()),
        Row(
            .permission(.netAdmin, for: .takeUserChannel(0)), .permission,
            "taking hci0 from the kernel: needs CAP_NET_ADMIN",
            hint: Grant.hint()),
        Row(
            .permission(.netAdmin, for: .setUpPairing(0)), .permission,
            "setting up pairing on hci0: needs CAP_NET_ADMIN",
            hint: Grant.hint()),
        Row(
            .permission(.netAdmin, for: .restorePairing(0)), .permission,
            "setting pairing on hci0 back: needs CAP_NET_ADMIN",
            hint: Grant.hint()),
        Row(
            .fileAccess(path: "/dev/ttyACM0"), .permission,
            "read: this user may not read and write /dev/ttyACM0",
            hint: "sudo usermod -aG $(stat -c %G /dev/ttyACM0) $USER, then log in again"),
        Row(
            .unknownIdentity(path: "/sys/kernel/debug/bluetooth/hci0/identity"), .permission,
            """
            read: the adapter has a static random address, and /sys/kernel/debug/bluetooth/hci0/identity, which \
            shows it, cannot be read
            """,
            hint: "run as root; mount -t debugfs debugfs /sys/kernel/debug, if it is not mounted"),
        Row(
            .hci(.commandDisallowed, command: .leSetScanEnable), .adapter,
            "read: LE Set Scan Enable: Command Disallowed (0x0c)", number: 12),
        Row(.controllerSilent(command: .reset), .adapter, "read: Reset: no answer from the controller"),
        Row(
            .controllerMisbehaved(command: .reset, .missingStatus), .adapter,
            "read: Reset: the controller misbehaves: an answer without status"),
        Row(
            .controllerMisbehaved(command: .leReadBufferSize, .malformed(malformed)), .adapter,
            "read: LE Read Buffer Size [v1]: the controller misbehaves: LE buffer size: Total_Num_LE_ACL_Data_Packets at octet 2 needs 1 octet, 0 left"
        ),
        Row(
            .att(ATTErrorResponse(.readRequest, 0x0012, .readNotPermitted)), .att,
            "read: Read Request of 0x0012: Read Not Permitted (0x02)", number: 2,
            hint: "bletool gatt DEVICE tree shows what each characteristic can do"),
        Row(
            .att(ATTErrorResponse(.readRequest, 0x0012, .insufficientEncryption)), .security,
            "read: Read Request of 0x0012: Insufficient Encryption (0x0f)", number: 15,
            hint:
                "the attribute requires encryption, or a higher security level: bletool pair DEVICE, or --security"
        ),
        Row(
            .peerMisbehaved(.answer(to: .readBlobRequest, .overlong(octets: 594, limit: 512))), .peer,
            "read: the peer misbehaves: answer to Read Blob Request: 594 octets where at most 512 fit"),
        Row(
            .peerMisbehaved(.unexpectedResponse(.writeResponse, to: .readRequest)), .peer,
            "read: the peer misbehaves: it answered Read Request with Write Response"),
        Row(
            .peerMisbehaved(.foreignError(about: .readByGroupTypeRequest, to: .readRequest)), .peer,
            "read: the peer misbehaves: it answered Read Request with an error about Read By Group Type Request"
        ),
        Row(
            .peerMisbehaved(.malformedResponse(malformed)), .peer,
            "read: the peer misbehaves: LE buffer size: Total_Num_LE_ACL_Data_Packets at octet 2 needs 1 octet, 0 left"
        ),
        Row(
            .peerMisbehaved(.malformedValue(malformed)), .peer,
            "read: the peer misbehaves: LE buffer size: Total_Num_LE_ACL_Data_Packets at octet 2 needs 1 octet, 0 left"
        ),
        Row(
            .peerMisbehaved(.missingConfiguration(0x2a37)), .peer,
            "read: the peer misbehaves: characteristic 2a37 has no Client Characteristic Configuration"),
        Row(
            .peerMisbehaved(.restlessDatabase), .peer,
            "read: the peer misbehaves: its database changed during each discovery"),
        Row(
            .pairing(.peer(.confirmValueFailed)), .security,
            "read: pairing failed: the peer: Confirm Value Failed",
            hint: "the two sides have different passkeys"),
        Row(
            .pairing(.local(.encryptionKeySize)), .security,
            "read: pairing failed: refused here: Encryption Key Size",
            hint:
                "the device supports only shorter keys, which are easier to guess; --min-key-size accepts them"
        ),
        Row(
            .cannotPair(.requirements), .security,
            "read: cannot pair: this side has no input or output that this security level requires",
            hint:
                "--io sets what this side can show and enter; --passkey, or the user at the terminal, answers"
        ),
        Row(.cannotPair(.busy), .security, "read: cannot pair: another pairing is under way on this link"),
        Row(
            .bondLost(peer), .security,
            "read: C0:DE:00:00:00:01/random no longer has the key of the bond",
            hint:
                "if it is the same device, bletool bonds remove C0:DE:00:00:00:01/random (with this command's --state-dir, if any), then pair again; --plain-text uses the link without encryption"
        ),
        Row(.kernelPairing(.authenticationFailed), .security, "read: pairing failed: authentication failed"),
        Row(
            .encryption(.pinOrKeyMissing), .security,
            "read: the link cannot be encrypted: PIN or Key Missing (0x06)", number: 6,
            hint: "the device has forgotten this host: remove its bond"),
        Row(
            .disconnected(.status(.connectionTerminatedMICFailure)), .security,
            "read: \(BLEError.disconnected(.status(.connectionTerminatedMICFailure)))", number: 0x3d,
            hint:
                "the device has another key, or another device uses its address: if it is the same device, remove its bond and pair again"
        ),
        Row(
            .disconnected(.status(.connectionTimeout)), .linkLost,
            "read: link lost: Connection Timeout (0x08)", number: 8),
        Row(.disconnected(.unknown), .linkLost, "read: link lost: unknown reason"),
        Row(.unsent(1), .linkLost, "read: 1 packet was not sent: the link accepts no more data"),
        Row(.unsent(76), .linkLost, "read: 76 packets were not sent: the link accepts no more data"),
        Row(.busy(peer), .adapter, "read: another program has the link to C0:DE:00:00:00:01/random"),
        Row(
            .connectFailed(.status(.connectionFailedToBeEstablished)), .linkLost,
            "read: cannot connect: Connection Failed to be Established / Synchronization Timeout (0x3e)",
            number: 62),
        Row(
            .syncLost(peer, set: 2), .linkLost,
            "read: the periodic train of C0:DE:00:00:00:01/random, set 2, is lost"),
        Row(
            .outOfRange(.transmitPower, allowed: -127...20, value: 21), .input,
            "read: 21 is above the greatest transmit power, 20 dBm"),
        Row(
            .outOfRange(.advertisingSetID, allowed: 0...15, value: 16), .input,
            "read: 16 is above the greatest number of an advertising set, 15"),
        Row(
            .outOfRange(.advertisingEvents, allowed: 1...255, value: 0), .input,
            "read: 0 is below the least number of advertising events, 1"),
        Row(
            .outOfRange(.establishmentAttempts, allowed: 1...10, value: 0), .input,
            "read: 0 is below the least number of attempts to connect, 1"),
        Row(
            .outOfRange(.latency, allowed: 0...499, value: 500), .input,
            "read: 500 is above the greatest latency, 499 connection events"),
        Row(
            .outOfRange(.dataChannels, allowed: 2...37, value: 1), .input,
            "read: 1 is below the least number of data channels, 2"),
        Row(
            .outOfRange(.dataLength, allowed: 27...251, value: 252), .input,
            "read: 252 is above the greatest data length, 251 octets"),
        Row(
            .outOfRange(.skippedEvents, allowed: 0...499, value: 500), .input,
            "read: 500 is above the greatest number of skipped events, 499"),
        Row(
            .outOfRange(.readOffset, allowed: 0...512, value: -1), .input,
            "read: -1 is below the least offset of a read, 0 octets"),
        Row(
            .outOfRange(.commandField, allowed: 0...1023, value: 1024), .input,
            "read: 1024 is above the greatest number of a command in its group, 1023"),
        Row(
            .timeOutOfRange(
                .advertisingInterval, allowed: .milliseconds(20) ... .milliseconds(10_240),
                value: .milliseconds(10)), .input,
            "read: 10 ms is below the least advertising interval, 20 ms"),
        Row(
            .timeOutOfRange(
                .advertisingDuration, allowed: .microseconds(1) ... .seconds(Int64.max), value: .zero),
            .input, "read: 0 s is below the least duration of advertising, 1 us"),
        Row(
            .timeOutOfRange(
                .periodicInterval, allowed: .microseconds(7500) ... .seconds(81), value: .milliseconds(5)),
            .input, "read: 5 ms is below the least interval of periodic advertising, 7.5 ms"),
        Row(
            .timeOutOfRange(
                .synchronizationTimeout, allowed: .milliseconds(100) ... .milliseconds(163_840),
                value: .seconds(200)), .input,
            "read: 200 s is above the greatest synchronization timeout, 163.84 s"),
        Row(
            .timeOutOfRange(
                .scanInterval, allowed: .microseconds(2500) ... .milliseconds(40_960), value: .seconds(41)),
            .input, "read: 41 s is above the greatest scan interval, 40.96 s"),
        Row(
            .timeOutOfRange(
                .legacyScanInterval, allowed: .microseconds(2500) ... .milliseconds(10_240),
                value: .seconds(11)), .input,
            "read: 11 s is above the greatest scan interval of the legacy commands, 10.24 s"),
        Row(
            .timeOutOfRange(
                .scanWindow, allowed: .microseconds(2500) ... .milliseconds(100), value: .milliseconds(101)),
            .input, "read: 101 ms is above the greatest scan window, 100 ms"),
        Row(
            .timeOutOfRange(
                .connectionInterval, allowed: .microseconds(7500) ... .seconds(4), value: .milliseconds(5)),
            .input, "read: 5 ms is below the least connection interval, 7.5 ms"),
        Row(
            .timeOutOfRange(
                .supervisionTimeout, allowed: .milliseconds(100) ... .seconds(32), value: .seconds(33)),
            .input, "read: 33 s is above the greatest supervision timeout, 32 s"),
        Row(
            .timeOutOfRange(
                .packetTime, allowed: .microseconds(328) ... .microseconds(17_040), value: .microseconds(327)),
            .input, "read: 327 us is below the least packet time, 328 us"),
        Row(
            .timeOutOfRange(
                .privateAddressLifetime, allowed: .seconds(1) ... .seconds(3600), value: .seconds(7200)),
            .input, "read: 2 h is above the greatest lifetime of a private address, 1 h"),
        Row(
            .limit(.value(.writeCommand), maximum: 20, value: 30), .input,
            "read: too many octets of a Write Command's value at this MTU: 30, at most 20"),
        Row(
            .limit(.notification(peer), maximum: 20, value: 30), .input,
            "read: too many octets of a value for C0:DE:00:00:00:01/random at its MTU: 30, at most 20"),
        Row(
            .limit(.valueLength, maximum: 512, value: 600), .input,
            "read: too many octets of a value: 600, at most 512"),
        Row(
            .limit(.readOffset, maximum: 512, value: 513), .input,
            "read: too many octets to skip in a read: 513, at most 512"),
        Row(
            .limit(.waitingRequests, maximum: 256, value: 257), .input,
            "read: too many requests that wait on one link: 257, at most 256"),
        Row(
            .limit(.waitingCommands, maximum: 256, value: 257), .input,
            "read: too many commands and notifications that wait on one link: 257, at most 256"),
        Row(
            .limit(.waitingIndications, maximum: 64, value: 65), .input,
            "read: too many indications that wait on one link: 65, at most 64"),
        Row(
            .limit(.heldCommands, maximum: 16, value: 17), .input,
            "read: too many commands that wait for a link: 17, at most 16"),
        Row(
            .limit(.adapterName, maximum: 64, value: 65), .input,
            "read: too many octets of a virtual adapter's name: 65, at most 64"),
        Row(
            .limit(.advertisements, maximum: 4, value: 5), .input,
            "read: too many simultaneous advertisements on this controller: 5, at most 4"),
        Row(
            .limit(.freeAdvertisingSets, maximum: 1, value: 2), .input,
            "read: too many advertising sets of this program: 2, at most 1"),
        Row(
            .limit(.connectableData, maximum: 245, value: 300), .input,
            "read: too many octets of connectable advertising in one packet: 300, at most 245"),
        Row(
            .limit(.advertisingData, maximum: 600, value: 601), .input,
            "read: too many octets of advertising data on this controller: 601, at most 600"),
        Row(
            .limit(.advertisingDataInInterval, maximum: 242, value: 1464), .input,
            "read: too many octets of advertising data within the interval: 1464, at most 242"),
        Row(
            .limit(.periodicData, maximum: 600, value: 601), .input,
            "read: too many octets of periodic advertising on this controller: 601, at most 600"),
        Row(
            .limit(.periodicDataInInterval, maximum: 743, value: 1000), .input,
            "read: too many octets of periodic advertising within its interval: 1000, at most 743"),
        Row(
            .limit(.commandParameters, maximum: 255, value: 256), .input,
            "read: too many octets of a command's parameters: 256, at most 255"),
        Row(
            .limit(.bonds, maximum: 16_384, value: 16_385), .input,
            "read: too many bonds: 16385, at most 16384"),
        Row(.parametersRefused, .linkLost, "read: the peer refuses the connection parameters", number: 59),
        Row(
            .databaseChanged(0x0012), .att,
            "read: the device's database has changed since attribute 0x0012 was found", number: 18,
            hint: "run it again"),
        Row(.overflow(.values(64)), .linkLost, "read: more than 64 values waited in the stream's buffer"),
        Row(.invalidRequest(.noPHY), .input, "read: no PHY is given: at least one is needed"),
        Row(
            .invalidRequest(.phy(PHY(rawValue: 9))), .input,
            "read: there is no PHY 0x09: a link uses LE 1M, LE 2M or LE Coded"),
        Row(
            .invalidRequest(.scanning(on: .le2M)), .input,
            "read: cannot scan on LE 2M: the primary PHY of advertising is LE 1M or LE Coded"),
        Row(
            .invalidRequest(.foreignCentral(Central(address: peer, client: ClientID(rawValue: 1)))), .input,
            "read: C0:DE:00:00:00:01/random is a central of another adapter"),
        Row(
            .invalidRequest(.supervisionTimeoutTooShort(.milliseconds(100), moreThan: .milliseconds(200))),
            .input,
            "read: a supervision timeout of 100 ms is too short: it must be more than 200 ms, which is twice the interval times (latency + 1)"
        ),
        Row(
            .invalidRequest(.parameterRequest(.notPeripheral)), .input,
            "read: only the peripheral of a link requests connection parameters; a central changes them"),
        Row(
            .invalidRequest(.parameterRequest(.outOfRange)), .input,
            "read: the requested connection parameters are out of range"),
        Row(
            .invalidRequest(.parameterRequest(.busy)), .input,
            "read: the peer has not answered the previous request for connection parameters"),
        Row(
            .invalidRequest(.noEncryptionKey(peer)), .input,
            "read: the bond with C0:DE:00:00:00:01/random has no key for encryption as the central"),
        Row(.invalidRequest(.onlyCentralPairs), .input, "read: only the central of a link can start pairing"),
        Row(
            .invalidRequest(.notEncryptedByBond(peer)), .input,
            "read: the link to C0:DE:00:00:00:01/random is not encrypted with the key of a bond"),
        Row(
            .invalidRequest(.weakerBond(peer, of: other)), .input,
            "read: C0:DE:00:00:00:01/random has the identity address C0:DE:00:00:00:02/random, whose bond is stronger: remove that bond to replace it"
        ),
        Row(
            .invalidRequest(.value(.invalidLength(octets: 3, .fixed(2)))), .input,
            "read: the value has 3 octets, and the attribute always 2"),
        Row(
            .invalidRequest(.servicesInUse), .input,
            "read: all services can be replaced only while there is no link; `add` adds services"),
        Row(
            .invalidRequest(.serverRestored), .input,
            "read: this adapter's server is already restored under another name"),
        Row(
            .invalidRequest(.notSubscribable(0x2a37, indications: false)), .input,
            "read: characteristic 2a37 neither notifies nor indicates",
            hint: "bletool gatt DEVICE tree shows what each characteristic can do"),
        Row(
            .invalidRequest(.notSubscribable(0x2a37, indications: true)), .input,
            "read: characteristic 2a37 does not indicate",
            hint: "bletool gatt DEVICE tree shows what each characteristic can do"),
        Row(
            .invalidRequest(.nothingToSubscribe), .input,
            "read: there is no characteristic to subscribe to"),
        Row(
            .invalidRequest(.noWriteWithoutResponse(0x0012)), .input,
            "read: the characteristic with the value 0x0012 does not offer writes without response"),
        Row(.invalidRequest(.streamInUse), .input, "read: another task waits for this stream's next value"),
        Row(.invalidRequest(.advertisementEnded), .input, "read: the advertisement has ended"),
        Row(
            .invalidRequest(.advertising(.extendedHighDutyCycle)), .input,
            "read: the high duty cycle is for legacy packets only"),
        Row(
            .invalidRequest(.advertising(.directedNotConnectable)), .input,
            "read: directed advertising in legacy packets is connectable"),
        Row(
            .invalidRequest(.advertising(.directedData)), .input,
            "read: directed advertising in legacy packets has no data; in extended packets it may have some"),
        Row(
            .invalidRequest(.advertising(.anonymous)), .input,
            "read: only extended, nonconnectable advertising can be anonymous"),
        Row(
            .invalidRequest(.advertising(.periodic)), .input,
            "read: a periodic train needs extended, nonconnectable advertising that is not anonymous"),
        Row(
            .invalidRequest(.advertising(.legacyPower)), .input,
            "read: legacy packets have no transmit power in their header; the advertising data can have it"),
        Row(
            .invalidRequest(.advertising(.scanResponse)), .input,
            "read: nonconnectable advertising has no scan response"),
        Row(
            .invalidRequest(.advertising(.emptyScanResponse)), .input,
            "read: scannable extended advertising needs data for its scan response"),
        Row(
            .invalidRequest(.advertising(.primaryPHY(.le2M))), .input,
            "read: the primary PHY of advertising is LE 1M or LE Coded, not LE 2M"),
        Row(
            .invalidRequest(.advertising(.secondaryPHY(PHY(rawValue: 9)))), .input,
            "read: there is no PHY 0x09"),
        Row(
            .invalidRequest(.advertising(.legacyPHY)), .input,
            "read: legacy packets are sent on LE 1M; extended ones may use other PHYs"),
        Row(
            .invalidRequest(.advertising(.channels)), .input,
            "read: advertising needs at least one of the channels 37, 38 and 39, and no other"),
        Row(.notFound(.device(within: .seconds(10))), .notFound, "read: no device was found within 10 s"),
        Row(.notFound(.device(within: nil)), .notFound, "read: no device was found"),
        Row(.notFound(.address), .notFound, "read: the device advertises without an address"),
        Row(
            .notFound(.characteristic(0x2a37, of: peer)), .notFound,
            "read: C0:DE:00:00:00:01/random has no characteristic 2a37"),
        Row(
            .notFound(.characteristicOfService(0x2a37, service: 0x180d, of: peer)), .notFound,
            "read: C0:DE:00:00:00:01/random has no characteristic 2a37 in a service 180d"),
        Row(
            .notFound(.characteristic(0x2a37, of: nil)), .notFound,
            "read: no characteristic 2a37 is published"),
        Row(
            .notFound(.subscribed(0x2a37, at: 0x0012, of: peer)), .notFound,
            "read: C0:DE:00:00:00:01/random has no characteristic 2a37 at 0x0012, and not exactly one other of that type"
        ),
        Row(.notFound(.service(0x180f)), .notFound, "read: no service 180f is published"),
        Row(.notFound(.value(0x0012)), .notFound, "read: no value has the handle 0x0012"),
        Row(
            .notFound(.bond(BondID(peer, at: other))), .notFound,
            "read: there is no bond with C0:DE:00:00:00:01/random at C0:DE:00:00:00:02/random"),
        Row(.timedOut(.operation, after: .seconds(5)), .timeout, "read: the operation took longer than 5 s"),
        Row(
            .timedOut(.opening, after: .seconds(1)), .timeout,
            "read: opening the adapter took longer than 1 s"
        ),
        Row(
            .timedOut(.connecting, after: .milliseconds(1500)), .timeout,
            "read: connecting took longer than 1.5 s",
            hint: "is the device in range and connectable? bletool scan shows whether it is"),
        Row(
            .timedOut(.linkSetup, after: .seconds(20)), .timeout,
            "read: setting up the link took longer than 20 s"),
        Row(
            .timedOut(.mtuExchange, after: .seconds(5)), .timeout,
            "read: the answer to the exchange of the MTU took longer than 5 s",
            hint: "bletool gatt DEVICE … --mtu 23 connects without the exchange"),
        Row(
            .timedOut(.response, after: .seconds(30)), .timeout,
            "read: the peer's answer took longer than 30 s"),
        Row(
            .timedOut(.connectionUpdate, after: .seconds(40)), .timeout,
            "read: the connection update took longer than 40 s"),
        Row(
            .timedOut(.parameterRequest, after: .seconds(30)), .timeout,
            "read: the answer to a request for connection parameters took longer than 30 s"),
        Row(
            .timedOut(.phyUpdate, after: .seconds(40)), .timeout, "read: the PHY update took longer than 40 s"
        ),
        Row(
            .timedOut(.remoteVersion, after: .seconds(40)), .timeout,
            "read: the version of the peer's controller took longer than 40 s"),
        Row(
            .timedOut(.remoteFeatures, after: .seconds(40)), .timeout,
            "read: the features of the peer's controller took longer than 40 s"),
        Row(.timedOut(.encryption, after: .seconds(40)), .timeout, "read: encryption took longer than 40 s"),
        Row(
            .timedOut(.synchronization, after: .seconds(3)), .timeout,
            "read: finding the periodic train took longer than 3 s"),
        Row(
            .timedOut(.management(.listAdapters), after: .seconds(10)), .timeout,
            "read: listing the adapters: the kernel's answer took longer than 10 s"),
        Row(.cancelled, .timeout, "read: cancelled"),
        Row(
            .advertising(.invalid(.serviceData, .appleField)), .input,
            "read: serviceData: Apple's rules have room for services and a name only"),
        Row(
            .managementRefused(.listAdapters, .busy), .adapter,
            "read: listing the adapters: the kernel refuses: busy"),
        Row(
            .managementRefused(.answerPairing(peer), .busy), .adapter,
            "read: answering for C0:DE:00:00:00:01/random: the kernel refuses: busy"),
        Row(
            .managementMalformed(.readAdapter(0), malformed), .adapter,
            "read: reading the settings of hci0: the kernel's answer is malformed: LE buffer size: Total_Num_LE_ACL_Data_Packets at octet 2 needs 1 octet, 0 left"
        ),
        Row(
            .managementMalformed(.listLinks(0), malformed), .adapter,
            "read: listing the links of hci0: the kernel's answer is malformed: LE buffer size: Total_Num_LE_ACL_Data_Packets at octet 2 needs 1 octet, 0 left"
        ),
        Row(
            .bonds(.damaged(path: "/var/lib/bletool/bond", line: 3, .value("x", key: "peer"))), .input,
            "read: /var/lib/bletool/bond: line 3: peer: x is invalid"),
        Row(
            .bonds(.newer(path: "/var/lib/bletool/bond", version: 9)), .input,
            "read: /var/lib/bletool/bond is of version 9, which a later release of this program has written"),
        Row(
            .bonds(.system(.permissionDenied, during: "opening /var/lib/bletool")), .permission,
            "read: opening /var/lib/bletool: Permission denied", hint: "run as a user who may use it"),
        Row(
            .noSigningKey(peer), .security,
            "read: C0:DE:00:00:00:01/random cannot check signatures: only a bonded peer that has this host's signing key can",
            hint: "bletool pair C0:DE:00:00:00:01, then write again"),
        Row(
            .countersUsedUp(BondID(peer, at: other)), .security,
            "read: all counters of signed writes of the bond with C0:DE:00:00:00:01/random at C0:DE:00:00:00:02/random are used up"
        ),
        Row(
            .restoration(.inUse("gateway", process: 7)), .input,
            "read: gateway is restored by process 7 already"),
        Row(.port(.ended), .adapter, "read: the other side closed the connection"),
        Row(
            .port(.system(.permissionDenied, during: "connect")), .permission,
            "read: connect: Permission denied", hint: "run as a user who may use it"),
    ]

    @Test(arguments: rows) func errorMapsToFailure(_ row: Row) {
        let failure = Failure(row.error, while: "read")
        #expect(failure.kind == row.kind)
        #expect(failure.message == row.message)
        #expect(failure.number == row.number)
        #expect(failure.hint == row.hint)
        let number = row.number.map { ",\"number\":\($0)" } ?? ""
        let hint = row.hint.map { ",\"hint\":\(JSONValue.string($0))" } ?? ""
        let status = row.kind.status.rawValue
        let json =
            "{\"event\":\"error\",\"kind\":\"\(row.kind)\",\"message\":\(JSONValue.string(row.message)),"
            + "\"code\":\(status)\(number)\(hint)}"
        #expect("\(failure.json)" == json)
    }

    @Test func silentSerialPortHintOffersOtherSettings() {
        #expect(
            Failure.silentSerialPort("/dev/ttyACM0", 1_000_000, true)
                == """
                does the controller speak H4, at 1000000 Bd, with RTS/CTS? \
                serial:/dev/ttyACM0?baud=115200&flow=off is another setting
                """)
        #expect(
            Failure.silentSerialPort("/x", 115_200, false).hasSuffix(
                "serial:/x?baud=1000000&flow=on is another setting"))
    }

    /// All cases in the source files of the library's errors are in the table, except those that no user of
    /// the tool can cause.
    @Test func everyErrorCaseIsInTable() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let table = try String(contentsOf: tests.appending(path: "ErrorTableTests.swift"), encoding: .utf8)
        let errors = tests.appending(path: "../../Sources/BLE/Errors")
        var count = 0
        for file in [
            "BLEError", "AdapterProblem", "KernelOperation", "Ranges", "Misbehaviors", "InvalidRequest",
        ] {
            let text = try String(contentsOf: errors.appending(path: "\(file).swift"), encoding: .utf8)
            for name in text.matches(of: /(?m)^ +case (\w+)/).map(\.output.1) {
                count += 1
                // Only users of the library can cause a database error. The table has an HCI status in place
                // of an errno.
                let isMade = ["database", "errno"].contains(name)
                #expect(isMade || table.contains(".\(name)"), "\(file): \(name)")
            }
        }
        #expect(count > 150)
    }
}
