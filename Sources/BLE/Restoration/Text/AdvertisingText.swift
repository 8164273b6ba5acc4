import BLEAdvertising
import BLECore
import HCI

/// The text of an advertisement in a file.
extension RestoredAdvertising {
    static let kind = "advertising"

    var text: [UInt8] {
        var writer = TextWriter(Self.kind)
        writer.line("maximum-links", "\(maximumLinks)")
        writer.line("kind", request.kind.rawValue)
        if let direction = request.direction {
            writer.line("direction", "\(direction.peer)", direction.dutyCycle == .high ? "high" : "low")
        }
        writer.line("anonymous", TextValue.text(request.isAnonymous))
        writer.line("interval", TextValue.text(request.interval))
        writer.line("channels", "0x\(request.channels.rawValue.hex)")
        writer.line("phys", "0x\(request.primaryPHY.rawValue.hex)", "0x\(request.secondaryPHY.rawValue.hex)")
        writer.line("power", ifThere: request.power.map { "\($0)" })
        writer.line("corrects-power-field", TextValue.text(request.correctsPowerField))
        writer.line("includes-power", TextValue.text(request.includesTxPower))
        writer.line("sid", ifThere: request.sid.map { "\($0)" })
        writer.line("duration", ifThere: request.duration.map(TextValue.text))
        writer.line("maximum-events", ifThere: request.maximumEvents.map { "\($0)" })
        if let train = request.periodic {
            writer.line(
                "periodic", TextValue.text(train.interval.lowerBound),
                TextValue.text(train.interval.upperBound), TextValue.text(train.includesTxPower),
                TextValue.text(train.data))
        }
        request.plan.write(to: &writer)
        return writer.octets
    }

    init(_ section: TextSection) throws(TextError) {
        var plan = AdvertisingPlan.Parts()
        self.init(request: AdvertisingRequest(.empty), maximumLinks: 1)
        for line in section.lines where try !plan.read(line) { try read(line) }
        request.plan = plan.plan
    }

    private mutating func read(_ line: TextSection.Line) throws(TextError) {
        switch line.key {
        case "maximum-links": maximumLinks = try line.value { Int($0) }
        case "kind": request.kind = try line.value { AdvertisingKind(rawValue: String($0)) }
        case "direction": request.direction = try AdvertisingDirection(line)
        case "anonymous": request.isAnonymous = try line.value(TextValue.flag)
        case "interval": request.interval = try line.value(TextValue.duration)
        case "channels":
            request.channels = AdvertisingChannels(rawValue: try line.value(TextValue.bits))
        case "phys":
            let words = try line.values(2)
            request.primaryPHY = PHY(rawValue: try line.value(of: words[0], TextValue.bits))
            request.secondaryPHY = PHY(rawValue: try line.value(of: words[1], TextValue.bits))
        case "power": request.power = try line.value { Int8($0) }
        case "corrects-power-field": request.correctsPowerField = try line.value(TextValue.flag)
        case "includes-power": request.includesTxPower = try line.value(TextValue.flag)
        case "sid": request.sid = try line.value { UInt8($0) }
        case "duration": request.duration = try line.value(TextValue.duration)
        case "maximum-events": request.maximumEvents = try line.value { UInt8($0) }
        case "periodic": request.periodic = try PeriodicAdvertisingTrain(line)
        default: throw line.isUnknown
        }
    }
}

extension AdvertisingDirection {
    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = try line.values(2)
        let cycles: [Substring: DutyCycle] = ["high": .high, "low": .low]
        self.init(
            try line.value(of: words[0]) { DeviceAddress($0) },
            dutyCycle: try line.value(of: words[1]) { cycles[$0] })
    }
}

extension PeriodicAdvertisingTrain {
    fileprivate init(_ line: TextSection.Line) throws(TextError) {
        let words = try line.values(4)
        let least = try line.value(of: words[0], TextValue.duration)
        let most = try line.value(of: words[1], TextValue.duration)
        guard least <= most else { throw line.isNoValue(line.rest) }
        self.init(try line.value(of: words[3], TextValue.octets), within: least...most)
        includesTxPower = try line.value(of: words[2], TextValue.flag)
    }
}
