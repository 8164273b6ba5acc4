import Recordings
import TestSupport
import Testing

/// Returns the fields with their values in words: `interval=15 ms`.
private func line(_ fields: DecodedFields) -> String {
    fields.all.map { "\($0.name)=\(text($0.value))" }.joined(separator: " ")
}

private func text(_ value: FieldValue) -> String {
    switch value {
    case .null: "none"
    case .bool(let flag): "\(flag)"
    case .number(let number): "\(number)"
    case .text(let text): text
    case .list(let values): "[" + values.map(text).joined(separator: ", ") + "]"
    case .fields(let fields): "{" + line(fields) + "}"
    case .described(_, let words): words
    }
}

/// HCI packets with the text of their fields.
private let packets: [(hex: String, words: String)] = [
    (
        "04 3e13 01 00 4000 00 00 060504030201 0c00 0000 9001 00",
        """
        status=Success (0x00) connection=64 role=central peer=01:02:03:04:05:06/public interval=15 ms latency=0 \
        supervisionTimeout=4 s clockAccuracy=0
        """
    ),
    (
        "04 3e1a 0d 01 1300 01 0605040302c1 01 00 ff 7f c4 0000 00 000000000000 00",
        """
        reports=[{type=connectable+scannable+legacy address=C1:02:03:04:05:06/random primaryPHY=1m \
        secondaryPHY=none sid=none txPower=none rssi=-60 dBm periodicInterval=none direct=none data= \
        advertising={}}]
        """
    ),
    (
        "04 3e1b 0d 01 4000 01 0605040302c1 01 02 03 08 c4 0600 00 000000000000 01 00",
        """
        reports=[{type=truncated address=C1:02:03:04:05:06/random primaryPHY=1m secondaryPHY=2m sid=3 txPower=8 dBm \
        rssi=-60 dBm periodicInterval=7.5 ms direct=none data=00 advertising={}}]
        """
    ),
    (
        "04 3e0f 02 01 03 00 060504030201 03 020a08 7f",
        """
        reports=[{type=nonconnectable address=01:02:03:04:05:06/public data=020a08 rssi=none \
        advertising={txPower=8 dBm}}]
        """
    ),
    (
        "01 0d2019 6000 3000 01 00 000000000000 01 0600 0c00 0000 f401 0000 0100",
        """
        scanInterval=60 ms scanWindow=30 ms filterPolicy=acceptList peer=none ownAddressType=random \
        parameters={intervalMin=7.5 ms intervalMax=15 ms latency=0 supervisionTimeout=5 s eventMin=none \
        eventMax=0.625 ms}
        """
    ),
    (
        "01 0620 0f a000 0004 04 05 00 000000000000 07 00",
        """
        intervalMin=100 ms intervalMax=640 ms type=directedLowDutyCycle ownAddressType=5 peer=none \
        channels=37+38+39 filterPolicy=none
        """
    ),
    (
        "04 0e0a 010910 00 000000000000",
        "credits=1 opcode=Read BD_ADDR status=Success (0x00) address=00:00:00:00:00:00/public"
    ),
    ("01 4220 06 01 00 0000 0000", "enable=true filterDuplicates=off duration=none period=none"),
    ("01 2e20 02 8403", "seconds=900 s"),
    (
        "04 3e0b 07 4000 fb00 4808 1b00 4801",
        "connection=64 transmit={octets=251 time=2120 µs} receive={octets=27 time=328 µs}"
    ),
    (
        "04 3e09 21 00 4000 01 03 04 02 fe",
        "status=Success (0x00) connection=64 reason=remoteChange phy=codedS8 level=4 dBm flags=greatest delta=-2 dB"
    ),
]

struct FieldWordsTests {
    @Test(arguments: packets.indices)
    func fieldsAreDescribedWithUnitsAndNames(index: Int) {
        let layer = DecodedLayer.hci(octets(packets[index].hex)).layer
        #expect(layer.problem == nil)
        #expect(line(layer.fields) == packets[index].words)
    }

    @Test func signalingFieldsAreDescribedWithUnits() {
        let request = DecodedLayer.signaling(octets("12 07 0800 0600 0c00 0000 f401"))
        #expect(
            line(request.fields)
                == "identifier=7 intervalMin=7.5 ms intervalMax=15 ms latency=0 supervisionTimeout=5 s")
        #expect(
            line(DecodedLayer.signaling(octets("13 07 0200 0100")).fields) == "identifier=7 result=rejected")
    }

    @Test func describedFieldKeepsItsNumber() {
        let event = octets("04 3e0a 03 00 4000 0600 0100 6400")
        #expect(DecodedLayer.hci(event).layer.fields["interval"] == .described(.number(6), as: "7.5 ms"))
    }
}
