/// A number with its unit, exactly as it was sent: 25.06 °C.
public struct Quantity: Hashable, Sendable {
    /// The number, in units of `unit`.
    public var number: DecimalNumber
    /// The unit in which `number` counts.
    public var unit: PhysicalUnit

    /// Creates a quantity of `number` units.
    public init(_ number: DecimalNumber, _ unit: PhysicalUnit) {
        self.number = number
        self.unit = unit
    }

    /// Creates a quantity of `mantissa` times 10 to the power of `exponent` units.
    public init(_ mantissa: some BinaryInteger, exponent: Int = 0, _ unit: PhysicalUnit) {
        self.init(DecimalNumber(Int128(mantissa), exponent: exponent), unit)
    }
}

extension Quantity: CustomStringConvertible {
    /// The number and the symbol of the unit: `25.06 °C`; the number alone if it is a count.
    public var description: String { unit == .one ? "\(number)" : "\(number) \(unit)" }
}

/// The units in which beacons and sensors measure; the raw value is the symbol.
public enum PhysicalUnit: String, Hashable, Sendable, CaseIterable {
    /// A number without a unit: counts, indexes.
    case one = ""
    /// The degree Celsius, a unit of temperature.
    case celsius = "°C"
    /// A percentage, for example of relative humidity.
    case percent = "%"
    /// The pascal, a unit of pressure.
    case pascal = "Pa"
    /// The hectopascal, a unit of pressure: 100 Pa, or a millibar.
    case hectopascal = "hPa"
    /// The lux, a unit of illuminance.
    case lux = "lx"
    /// The kilogram, a unit of mass.
    case kilogram = "kg"
    /// The pound, a unit of mass: 0.453 592 37 kg.
    case pound = "lb"
    /// The kilowatt-hour, a unit of energy.
    case kilowattHour = "kWh"
    /// The watt, a unit of power.
    case watt = "W"
    /// The volt, a unit of voltage.
    case volt = "V"
    /// The ampere, a unit of electric current.
    case ampere = "A"
    /// Micrograms per cubic meter, a unit of concentration.
    case microgramPerCubicMeter = "µg/m³"
    /// Parts per million, a unit of concentration.
    case partsPerMillion = "ppm"
    /// The degree, a unit of angle.
    case degree = "°"
    /// Degrees per second, a unit of the rate of turn.
    case degreePerSecond = "°/s"
    /// Revolutions per minute, a unit of the rate of turn.
    case revolutionPerMinute = "rpm"
    /// The millimeter, a unit of length.
    case millimeter = "mm"
    /// The meter, a unit of length.
    case meter = "m"
    /// The second, a unit of time.
    case second = "s"
    /// Meters per second, a unit of speed.
    case meterPerSecond = "m/s"
    /// Meters per second squared, a unit of acceleration.
    case meterPerSecondSquared = "m/s²"
    /// The standard gravity, a unit of acceleration: 9.806 65 m/s².
    case standardGravity = "g"
    /// The liter, a unit of volume.
    case liter = "L"
    /// The milliliter, a unit of volume.
    case milliliter = "mL"
    /// The cubic meter, a unit of volume.
    case cubicMeter = "m³"
    /// Cubic meters per hour, a unit of volume flow rate.
    case cubicMeterPerHour = "m³/h"
    /// Microsiemens per centimeter, a unit of conductivity.
    case microsiemensPerCentimeter = "µS/cm"
    /// The decibel-milliwatt, radio power relative to a milliwatt.
    case decibelMilliwatt = "dBm"
}

extension PhysicalUnit: CustomStringConvertible {
    /// The symbol of the unit, for example `°C`.
    public var description: String { rawValue }

    /// The unit in letters, for the end of a property name: the `C` of `temperatureC`.
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
        case .microgramPerCubicMeter: "UgPerM3"
        case .partsPerMillion: "Ppm"
        case .degree: "Degrees"
        case .degreePerSecond: "DegreesPerS"
        case .revolutionPerMinute: "Rpm"
        case .millimeter: "Mm"
        case .meter: "M"
        case .second: "S"
        case .meterPerSecond: "MPerS"
        case .meterPerSecondSquared: "MPerS2"
        case .standardGravity: "G"
        case .liter: "L"
        case .milliliter: "Ml"
        case .cubicMeter: "M3"
        case .cubicMeterPerHour: "M3PerH"
        case .microsiemensPerCentimeter: "UsPerCm"
        case .decibelMilliwatt: "DBm"
        }
    }
}
