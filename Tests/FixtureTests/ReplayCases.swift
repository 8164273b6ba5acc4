import ATT
import BLECore
import GATTServer
import Recordings

extension ReplayCase {
    private static let bluetoothd = RecordedDialogue.Server.peer(
        DeviceAddress(0x00aa_0100_0000, type: .public))

    /// The cases for the recordings in the project.
    static let fixtures: [ReplayCase] = [
        ReplayCase(
            file: .fixture("serve-virtual"), server: .host,
            attributes: .configured("Examples/thermometer.yaml"),
            answers: 13, notifications: 2),
        ReplayCase(
            file: .fixture("gatt-notify-virtual"),
            server: .peer(DeviceAddress(0xe31d_c6b8_878f, type: .random)),
            attributes: .configured("Examples/thermometer.yaml"), answers: 13, notifications: 2),
        ReplayCase(
            file: .fixture("serve-bumble"), server: .host,
            attributes: .configured("Fixtures/serve-bumble.yaml"),
            answers: 61, notifications: 6),
        ReplayCase(
            file: .fixture("gatt-bumble"), server: .peer(DeviceAddress(0xf000_0000_0003, type: .random)),
            attributes: .recorded(), answers: 135, notifications: 6,
            differences: [
                Known(
                    asked: "0c19003f00", recorded: "010c19000b", ours: "0d",
                    because: """
                        The value ends just where the first response did. Attribute Not Long is allowed for \
                        values that fit one response (Part F, 3.4.4.5), and so is an empty part.
                        """),
                Known(
                    asked: "0a1d00", recorded: "010a1d0002", ours: "0b",
                    because: "The properties offer reading, and yet the application refuses it."),
            ]),
        ReplayCase(
            file: .fixture("serve-gatttool"), server: .host,
            attributes: .configured("Tests/Lab/guest/serve.yaml"), answers: 25, notifications: 24),
        ReplayCase(
            file: .fixture("gatttool-bluetoothd"), server: bluetoothd, attributes: .recorded(), answers: 27,
            notifications: 24),
        ReplayCase(
            file: .fixture("gatttool-bluetoothd"), server: .host, attributes: .none, answers: 3,
            differences: [
                ("020502", "0102000006", "031700"), ("080100ffff3a2b", "0108000006", "010801000a"),
                ("100100ffff0028", "0110000006", "011001000a"),
            ].map { Known(asked: $0.0, recorded: $0.1, ours: $0.2, because: "gatttool is no server at all.") }
        ),
        ReplayCase(
            file: .fixture("gatt-bluetoothd"), server: bluetoothd, attributes: .recorded(), answers: 106,
            notifications: 6,
            differences: [
                Known(
                    asked: "023200", recorded: "033200", ours: "030502",
                    because: """
                        Asked once more on a link, bluetoothd returns the MTU that holds; ours returns what \
                        it can receive, as always.
                        """)
            ] + alone),
        ReplayCase(
            file: .fixture("gatt-bluetoothd"), server: .host, attributes: .none, answers: 9),
    ]

    /// The cases for the recordings outside the project.
    static let captures: [ReplayCase] = [
        ReplayCase(
            file: .capture("horizon74at_ftms"), server: .peer(DeviceAddress(0xd715_0f98_f729, type: .random)),
            attributes: .recorded(), answers: 306, notifications: 1047,
            // The treadmill reports the input that it accepts next in notifications with the handle of a User
            // Description.
            unsubscribed: [0x0012: 261]),
        ReplayCase(
            file: .capture("pongbot"), server: .peer(DeviceAddress(0x67e1_4d4b_efcc, type: .public)),
            attributes: .recorded(), answers: 54, notifications: 54,
            differences: [
                Known(
                    asked: "102500ffff0028", recorded: "11142500ffffe4ccdbe22a2ab481e91189ef3a209808",
                    ours: "111425002e00e4ccdbe22a2ab481e91189ef3a209808", because: toTheEnd)
            ]),
        ReplayCase(
            file: .capture("pongbot"), server: .peer(DeviceAddress(0x7822_dbd3_271f, type: .public)),
            attributes: .recorded(), answers: 23, notifications: 4),
        ReplayCase(
            file: .capture("pongbot"), server: .peer(DeviceAddress(0xd859_db05_0dab, type: .public)),
            attributes: .recorded(beside: remembered), answers: 8, notifications: 53,
            differences: [
                Known(
                    asked: "080100ffff3a2b", recorded: "010800000a", ours: "010801000a",
                    because: "The watch forgets the range's start, which is to come back (Part F, 3.4.4.1).")
            ]),
        ReplayCase(
            file: .capture("pongbot"), server: .host, attributes: .recorded(), answers: 30,
            differences: [
                Known(
                    asked: "060100ffff0028e8bf6ccf178b32b84c486ae500fcbaab", recorded: "079f00ffff",
                    ours: "079f00a800", because: toTheEnd)
            ]),
    ]

    /// If a client supports several values in one notification, bluetoothd uses that PDU for a single value,
    /// too.
    private static let alone = ["01", "02", "03"].map { value in
        Known(
            asked: "", recorded: "231b000100" + value, ours: "1b1b00" + value,
            because: "A Multiple Handle Value Notification is for two values or more (Part F, 3.4.7.4).")
    }

    private static let toTheEnd = """
        The last service goes on to the last handle there is; ours ends with its last attribute. Clients \
        reckon with both (Part G, 4.4.1).
        """

    /// The services that the phone had discovered on a watch before, and uses without another discovery. The
    /// UUIDs of the values are not in the recording.
    private static let remembered = [
        GATTService(
            0x1800, handle: 0x0003,
            characteristics: [
                GATTCharacteristic(.appearance, properties: .read, value: [0, 0], valueHandle: 0x0005)
            ]),
        GATTService(
            0x1801, handle: 0x000a,
            characteristics: [
                GATTCharacteristic(.serviceChanged, properties: .indicate, valueHandle: 0x000c)
            ]),
        GATTService(
            0xfff0, handle: 0x0033,
            characteristics: [
                GATTCharacteristic(
                    0xfff1, properties: .read, value: [3, 0, 0, 0, 0, 0, 0], valueHandle: 0x0035)
            ]),
        GATTService(
            0xfff0, handle: 0x0040,
            characteristics: [
                GATTCharacteristic(0xfff2, properties: .writeWithoutResponse, valueHandle: 0x0042),
                GATTCharacteristic(0xfff3, properties: .notify, valueHandle: 0x0044),
            ]),
        GATTService(
            0xfff0, handle: 0x0050,
            characteristics: [
                GATTCharacteristic(
                    0xfff4, properties: .read,
                    value: .cached([UInt8](hex: "ac2f264581824be591e02992e6b40ebb") ?? []),
                    valueHandle: 0x0052),
                GATTCharacteristic(0xfff5, properties: .write, valueHandle: 0x0054),
            ]),
    ]
}
