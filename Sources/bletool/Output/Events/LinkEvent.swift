import BLE
import BLEAdvertising
import BLECore

/// The result of `gatt … info`: the properties of a link, and the controller of its peer. Values that the
/// controller or the kernel does not report are nil.
struct LinkEvent: Event {
    var address: DeviceAddress
    /// The negotiated parameters of the link.
    var parameters: BLE.LinkParameters
    /// The received signal strength in dBm.
    var rssi: Int?
    /// The transmit power of this host; nil: not known.
    var power: TransmitPower?
    /// The data channels of the link; nil: not known.
    var channels: ChannelMap?
    /// The version of the device's controller.
    var version: RemoteVersion?
    /// The LE features of the peer's controller; nil: not known.
    var features: LEFeatures?

    private var companyName: String? {
        version.flatMap { Names.company(CompanyIdentifier(rawValue: $0.company)) }
    }

    /// The company in text output. The number 0xffff means no company, as for a simulated controller; its
    /// assigned name is a sentence about device records.
    private func companyText(_ company: UInt16) -> String {
        company == 0xffff ? "no company (0xffff)" : companyName ?? "company 0x\(company.hex)"
    }

    private var channelCount: Int? { channels.map { channels in (0..<37).count { channels.contains($0) } } }

    var json: JSONValue {
        .object(
            [
                .init("event", "link"), .init("address", JSONValue(address)),
                .init("addressType", JSONValue(typeOf: address)),
            ] + ServerEvent.LinkParameters(parameters).members + [
                .init("rssi", JSONValue(rssi)), .init("txPower", JSONValue(power?.current)),
                .init("maximumTxPower", JSONValue(power?.maximum)),
                .init("channels", JSONValue(channels?.digits)),
                .init("channelCount", JSONValue(channelCount)),
                .init("version", JSONValue(version.map { "\($0.version)" })),
                .init("company", JSONValue(version?.company)), .init("companyName", JSONValue(companyName)),
                .init("subversion", JSONValue(version?.subversion)),
                .init("features", features.map { .array($0.names.map { JSONValue($0) }) } ?? .null),
            ])
    }

    func lines(colored: Bool) -> [String] {
        var rows: [(String, String?)] = []
        if let timing = parameters.timing {
            rows.append(
                (
                    "timing",
                    "interval \(timing.interval.text), latency \(timing.latency), "
                        + "supervision timeout \(timing.supervisionTimeout.text)"
                ))
        }
        rows.append(("phy", parameters.phys?.text))
        rows.append(("mtu", "\(parameters.mtu) octets"))
        let lengths = parameters.dataLengths
        rows.append(
            ("data length", lengths.map { "\($0.transmit.octets) octets out, \($0.receive.octets) in" }))
        rows.append(("rssi", rssi.map { "\($0) dBm" }))
        rows.append(("power", power.map { "\($0.current) dBm, at most \($0.maximum) dBm" }))
        rows.append(("channels", channelCount.map { "\($0) of 37" }))
        rows.append(
            (
                "controller",
                version.map {
                    "Bluetooth \($0.version), \(companyText($0.company)), "
                        + "subversion 0x\($0.subversion.hex)"
                }
            ))
        let head = Style.cyan(address.text, when: colored) + "  \(address.type)"
        let facts = rows.compactMap { name, value in
            value.map { "  \(Style.bold(name, when: colored))  \($0)" }
        }
        let listed = (features?.names ?? []).map { "    \($0)" }
        return [head] + facts
            + (listed.isEmpty ? [] : ["  " + Style.bold("features", when: colored)] + listed)
    }
}

extension ChannelMap {
    /// Ten hexadecimal digits, the highest channel first.
    fileprivate var digits: String {
        [UInt8]([UInt8](littleEndian: rawValue).prefix(5).reversed()).hex
    }
}
