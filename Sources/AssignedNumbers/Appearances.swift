/// The names of appearances (Assigned Numbers, 2.6). The table is short and written by hand, because the
/// package that provides the other tables does not contain it.
enum Appearances {
    /// Returns the name of an appearance: "Generic X" if only the category is given, or the name of the
    /// category if the subcategory has no name.
    static func name(of appearance: UInt16) -> String? {
        guard let category = categories[appearance >> 6] else { return nil }
        let kind = Int(appearance & 0x3f)
        if kind == 0 { return generic(category, appearance >> 6) }
        return category.kinds.indices.contains(kind - 1) && !category.kinds[kind - 1].isEmpty
            ? String(category.kinds[kind - 1]) : String(category.name)
    }

    /// Returns the appearances whose names contain the pattern.
    static func containing(_ pattern: NamePattern) -> [(appearance: UInt16, name: String)] {
        categories.sorted { $0.key < $1.key }.flatMap { number, category in
            (0...category.kinds.count).compactMap { kind in
                if kind > 0, category.kinds[kind - 1].isEmpty { return nil }
                let appearance = number << 6 | UInt16(truncatingIfNeeded: kind)
                guard let name = name(of: appearance), pattern.isPart(name.utf8.span) else { return nil }
                return (appearance, name)
            }
        }
    }

    private static func generic(_ category: Category, _ number: UInt16) -> String {
        number == 0 ? String(category.name) : "Generic \(category.name)"
    }

    private struct Category {
        let name: Substring
        /// The subcategories from number 1 on; an unassigned number has an empty name.
        let kinds: [Substring]
    }

    /// The table as lines, each with the number of a category, its name, and its subcategories.
    private static let categories: [UInt16: Category] = Dictionary(
        uniqueKeysWithValues: table.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "|", omittingEmptySubsequences: false)
            return UInt16(parts[0], radix: 16).map {
                ($0, Category(name: parts[1], kinds: Array(parts[2...])))
            }
        })

    private static let table = """
        00|Unknown
        01|Phone
        02|Computer|Desktop Workstation|Server-class Computer|Laptop|Handheld PC/PDA|Palm-size PC/PDA|\
        Wearable Computer|Tablet|Docking Station|All in One|Blade Server|Convertible|Detachable|IoT Gateway|\
        Mini PC|Stick PC
        03|Watch|Sports Watch|Smartwatch
        04|Clock
        05|Display
        06|Remote Control
        07|Eye-glasses
        08|Tag
        09|Keyring
        0a|Media Player
        0b|Barcode Scanner
        0c|Thermometer|Ear Thermometer
        0d|Heart Rate Sensor|Heart Rate Belt
        0e|Blood Pressure|Arm Blood Pressure|Wrist Blood Pressure
        0f|Human Interface Device|Keyboard|Mouse|Joystick|Gamepad|Digitizer Tablet|Card Reader|Digital Pen|\
        Barcode Scanner|Touchpad|Presentation Remote
        10|Glucose Meter
        11|Running Walking Sensor|In-Shoe Running Walking Sensor|On-Shoe Running Walking Sensor|\
        On-Hip Running Walking Sensor
        12|Cycling|Cycling Computer|Speed Sensor|Cadence Sensor|Power Sensor|Speed and Cadence Sensor
        13|Control Device|Switch|Multi-switch|Button|Slider|Rotary Switch|Touch Panel|Single Switch|\
        Double Switch|Triple Switch|Battery Switch|Energy Harvesting Switch|Push Button
        14|Network Device|Access Point|Mesh Device|Mesh Network Proxy
        15|Sensor|Motion Sensor|Air quality Sensor|Temperature Sensor|Humidity Sensor|Leak Sensor|\
        Smoke Sensor|Occupancy Sensor|Contact Sensor|Carbon Monoxide Sensor|Carbon Dioxide Sensor|\
        Ambient Light Sensor|Energy Sensor|Color Light Sensor|Rain Sensor|Fire Sensor|Wind Sensor|\
        Proximity Sensor|Multi-Sensor|Flush Mounted Sensor|Ceiling Mounted Sensor|Wall Mounted Sensor|\
        Multisensor|Energy Meter|Flame Detector|Vehicle Tire Pressure Sensor
        16|Light Fixtures|Wall Light|Ceiling Light|Floor Light|Cabinet Light|Desk Light|Troffer Light|\
        Pendant Light|In-ground Light|Flood Light|Underwater Light|Bollard with Light|Pathway Light|\
        Garden Light|Pole-top Light|Spotlight|Linear Light|Street Light|Shelves Light|Bay Light|\
        Emergency Exit Light|Light Controller|Light Driver|Bulb|Low-bay Light|High-bay Light
        17|Fan|Ceiling Fan|Axial Fan|Exhaust Fan|Pedestal Fan|Desk Fan|Wall Fan
        18|HVAC|Thermostat|Humidifier|De-humidifier|Heater|Radiator|Boiler|Heat Pump|Infrared Heater|\
        Radiant Panel Heater|Fan Heater|Air Curtain
        19|Air Conditioning
        1a|Humidifier
        1b|Heating|Radiator|Boiler|Heat Pump|Infrared Heater|Radiant Panel Heater|Fan Heater|Air Curtain
        1c|Access Control|Access Door|Garage Door|Emergency Exit Door|Access Lock|Elevator|Window|\
        Entrance Gate|Door Lock|Locker
        1d|Motorized Device|Motorized Gate|Awning|Blinds or Shades|Curtains|Screen
        1e|Power Device|Power Outlet|Power Strip|Plug|Power Supply|LED Driver|Fluorescent Lamp Gear|\
        HID Lamp Gear|Charge Case|Power Bank
        1f|Light Source|Incandescent Light Bulb|LED Lamp|HID Lamp|Fluorescent Lamp|LED Array|\
        Multi-Color LED Array|Low voltage halogen|Organic light emitting diode (OLED)
        20|Window Covering|Window Shades|Window Blinds|Window Awning|Window Curtain|Exterior Shutter|\
        Exterior Screen
        21|Audio Sink|Standalone Speaker|Soundbar|Bookshelf Speaker|Standmounted Speaker|Speakerphone
        22|Audio Source|Microphone|Alarm|Bell|Horn|Broadcasting Device|Service Desk|Kiosk|Broadcasting Room|\
        Auditorium
        23|Motorized Vehicle|Car|Large Goods Vehicle|2-wheeled Vehicle|Motorbike|Scooter|Moped|\
        3-wheeled Vehicle|Light Vehicle|Quad Bike|Minibus|Bus|Trolley|Agricultural Vehicle|Camper / Caravan|\
        Recreational Vehicle / Motor Home
        24|Domestic Appliance|Refrigerator|Freezer|Oven|Microwave|Toaster|Washing Machine|Dryer|\
        Coffee maker|Clothes iron|Curling iron|Hair dryer|Vacuum cleaner|Robotic vacuum cleaner|Rice cooker|\
        Clothes steamer
        25|Wearable Audio Device|Earbud|Headset|Headphones|Neck Band
        26|Aircraft|Light Aircraft|Microlight|Paraglider|Large Passenger Aircraft
        27|AV Equipment|Amplifier|Receiver|Radio|Tuner|Turntable|CD Player|DVD Player|Bluray Player|\
        Optical Disc Player|Set-Top Box
        28|Display Equipment|Television|Monitor|Projector
        29|Hearing aid|In-ear hearing aid|Behind-ear hearing aid|Cochlear Implant
        2a|Gaming|Home Video Game Console|Portable handheld console
        2b|Signage|Digital Signage|Electronic Label
        31|Pulse Oximeter|Fingertip Pulse Oximeter|Wrist Worn Pulse Oximeter
        32|Weight Scale
        33|Personal Mobility Device|Powered Wheelchair|Mobility Scooter
        34|Continuous Glucose Monitor
        35|Insulin Pump|Insulin Pump, durable pump|||Insulin Pump, patch pump||||Insulin Pen
        36|Medication Delivery
        37|Spirometer|Handheld Spirometer
        51|Outdoor Sports Activity|Location Display|Location and Navigation Display|Location Pod|\
        Location and Navigation Pod
        """
}
