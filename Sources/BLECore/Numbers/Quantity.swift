/// A number with its unit, exactly as it was sent: 25.06 °C.
public struct Quantity: Hashable, Sendable {
    /// The number of units.
    public var number: DecimalNumber
    /// The unit that is counted.
    public var unit: PhysicalUnit

    /// Creates a quantity of `number` units.
    public init(_ number: DecimalNumber, _ unit: PhysicalUnit) {
        self.number = number
        self.unit = unit
    }

    /// `mantissa` times 10 to the power of `exponent`, of that unit.
    public init(_ mantissa: some BinaryInteger, exponent: Int = 0, _ unit: PhysicalUnit) {
        self.init(DecimalNumber(Int128(mantissa), exponent: exponent), unit)
    }
}

extension Quantity: CustomStringConvertible {
    /// Number and symbol: `25.06 °C`; the number alone when it counts things.
    public var description: String { unit == .one ? "\(number)" : "\(number) \(unit)" }
}

/// The units that beacons and sensors measure in; the raw value is the symbol.
public enum PhysicalUnit: String, Hashable, Sendable, CaseIterable {
    /// Nothing but a number: counts, indexes.
    case one = ""
    /// Temperature.
    case celsius = "°C"
    /// Hundredths of something.
    case percent = "%"
    /// Pressure.
    case pascal = "Pa"
    /// Pressure, 100 Pa; a millibar.
    case hectopascal = "hPa"
    /// Illuminance.
    case lux = "lx"
    /// Mass.
    case kilogram = "kg"
    /// Mass, 0.453 592 37 kg.
    case pound = "lb"
    /// Energy.
    case kilowattHour = "kWh"
    /// Power.
    case watt = "W"
    /// Voltage.
    case volt = "V"
    /// Current.
    case ampere = "A"
    /// Concentration by mass.
    case microgramPerCubicMetre = "µg/m³"
    /// Concentration.
    case partsPerMillion = "ppm"
    /// Angle.
    case degree = "°"
    /// Rate of turn.
    case degreePerSecond = "°/s"
    /// Rate of turn.
    case revolutionPerMinute = "rpm"
    /// Length.
    case millimetre = "mm"
    /// Length.
    case metre = "m"
    /// Time.
    case second = "s"
    /// Speed.
    case metrePerSecond = "m/s"
    /// Acceleration.
    case metrePerSecondSquared = "m/s²"
    /// Acceleration, 9.806 65 m/s².
    case standardGravity = "g"
    /// Volume.
    case litre = "L"
    /// Volume.
    case millilitre = "mL"
    /// Volume.
    case cubicMetre = "m³"
    /// Flow.
    case cubicMetrePerHour = "m³/h"
    /// Conductivity.
    case microsiemensPerCentimetre = "µS/cm"
    /// Radio power, in relation to a milliwatt.
    case decibelMilliwatt = "dBm"
}

extension PhysicalUnit: CustomStringConvertible {
    /// The symbol.
    public var description: String { rawValue }

    /// The unit in letters, for the end of a name: the `C` of `temperatureC`.
    package var suffix: String {
        switch self {
        case .one: ""
        case .celsius: "C"
        case .percent: "Percent"
        case .pascal: "Pa"
        case .hectopascal: "HPa"
        case .lux: "Lux"
        case .kilogram: "Kg"
        case .pound: "Lb"
        case .kilowattHour: "KWh"
        case .watt: "W"
        case .volt: "V"
        case .ampere: "A"
        case .microgramPerCubicMetre: "UgPerM3"
        case .partsPerMillion: "Ppm"
        case .degree: "Degrees"
        case .degreePerSecond: "DegreesPerS"
        case .revolutionPerMinute: "Rpm"
        case .millimetre: "Mm"
        case .metre: "M"
        case .second: "S"
        case .metrePerSecond: "MPerS"
        case .metrePerSecondSquared: "MPerS2"
        case .standardGravity: "G"
        case .litre: "L"
        case .millilitre: "Ml"
        case .cubicMetre: "M3"
        case .cubicMetrePerHour: "M3PerH"
        case .microsiemensPerCentimetre: "UsPerCm"
        case .decibelMilliwatt: "DBm"
        }
    }
}
