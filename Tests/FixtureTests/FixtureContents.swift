import Testing

/// The required contents of a recording of the project, so that a damaged recording fails.
struct FixtureContents: Sendable {
    let file: RecordedFile
    let records: Int
    /// The number of occurrences of each message for which the recording was made.
    let messages: [String: Int]
    /// The advertised names that the recorded side received.
    var names: Set<String> = []

    static let all = [
        FixtureContents(
            file: .fixture("serve-virtual"), records: 89,
            messages: [
                "Reset": 1, "LE Set Advertising Data": 2, "LE Set Scan Response Data": 2,
                "LE Connection Complete": 1, "Exchange MTU Request": 1, "Read By Group Type Request": 3,
                "Read By Type Request": 4, "Find Information Request": 1, "Write Request": 4,
                "Handle Value Notification": 2, "Disconnection Complete": 1,
            ]),
        FixtureContents(
            file: .fixture("gatt-notify-virtual"), records: 75,
            messages: [
                "Reset": 1, "LE Set Scan Enable": 2, "LE Advertising Report": 2, "LE Create Connection": 1,
                "LE Connection Complete": 1, "Exchange MTU Request": 1, "Read By Group Type Request": 3,
                "Read By Type Request": 4, "Find Information Request": 1, "Write Request": 4,
                "Handle Value Notification": 2, "Disconnection Complete": 1,
            ], names: ["Thermometer"]),
        FixtureContents(
            file: .fixture("serve-bumble"), records: 273,
            messages: [
                // Bumble sends long PDUs in several packets.
                "ACL Data": 15, "Exchange MTU Request": 1, "Read By Group Type Request": 4,
                "Read By Type Request": 21, "Find Information Request": 7, "Read Request": 7,
                "Read Blob Request": 5, "Read Multiple Request": 1, "Read Multiple Variable Request": 1,
                "Write Request": 7, "Write Response": 5, "Write Command": 1, "Prepare Write Request": 4,
                "Execute Write Request": 3, "Handle Value Notification": 3, "Handle Value Indication": 3,
                "Handle Value Confirmation": 3, "Error Response": 14, "Disconnection Complete": 1,
            ]),
        FixtureContents(
            file: .fixture("gatt-bumble"), records: 583,
            messages: [
                "Reset": 5, "LE Extended Advertising Report": 10, "LE Connection Complete": 5,
                "Exchange MTU Request": 5, "Read By Group Type Request": 20, "Read By Type Request": 45,
                "Find Information Request": 20, "Read Request": 16, "Read Response": 15,
                "Read Blob Request": 12, "Read Blob Response": 11, "Prepare Write Request": 2,
                "Execute Write Request": 1, "Write Request": 14, "Handle Value Notification": 3,
                "Handle Value Indication": 3, "Handle Value Confirmation": 3, "Disconnection Complete": 5,
            ], names: ["Gadget 7"]),
        FixtureContents(
            file: .fixture("serve-gatttool"), records: 174,
            messages: [
                "System Note": 2, "LE Set Extended Advertising Parameters [v1]": 2,
                "LE Set Extended Advertising Data": 2, "LE Set Extended Scan Response Data": 2,
                "LE Enhanced Connection Complete [v1]": 1, "Read By Group Type Request": 2,
                "Read By Type Request": 5, "Find Information Request": 7, "Read Request": 2,
                "Read Blob Request": 2, "Write Request": 2, "Prepare Write Request": 4,
                "Execute Write Request": 1, "Handle Value Notification": 24, "Disconnection Complete": 1,
            ]),
        FixtureContents(
            file: .fixture("gatttool-bluetoothd"), records: 143,
            messages: [
                "System Note": 2, "LE Extended Create Connection [v1]": 1,
                "LE Enhanced Connection Complete [v1]": 1, "Read By Group Type Request": 4,
                "Read By Type Request": 6, "Find Information Request": 8, "Read Request": 2,
                "Read Blob Request": 2, "Write Request": 2, "Prepare Write Request": 4,
                "Execute Write Request": 1, "Handle Value Notification": 24, "Disconnection Complete": 1,
            ]),
        FixtureContents(
            file: .fixture("gatt-bluetoothd"), records: 495,
            messages: [
                "System Note": 2, "LE Enhanced Connection Complete [v1]": 3, "Exchange MTU Request": 10,
                "Read By Group Type Request": 24, "Read By Type Request": 33, "Find Information Request": 9,
                "Read Request": 14, "Read Blob Request": 2, "Write Request": 19, "Prepare Write Request": 3,
                "Execute Write Request": 1, "Multiple Handle Value Notification": 3,
                "Handle Value Indication": 3, "Handle Value Confirmation": 3, "Disconnection Complete": 3,
            ]),
    ]
}

extension FixtureContents: CustomTestStringConvertible {
    var testDescription: String { file.name }
}
