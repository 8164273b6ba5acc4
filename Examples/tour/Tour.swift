import BLE
import ExampleSupport

/// All that Core Bluetooth's two roles can do, step by step and a line for each: a central visits a peripheral.
///
///     tour ADAPTER peripheral
///     tour ADAPTER central FOLDER
///     tour ADAPTER returning FOLDER
///     tour ADAPTER listening FOLDER
///
/// The last two are a peripheral and a central that come back as they were. What the next start is to know is kept in the folder.
@main enum Tour {
    static func main() async {
        await Program.run { adapter, arguments in
            switch (arguments.first, arguments.dropFirst().first) {
            case ("peripheral", nil): try await TourPeripheral.run(on: adapter)
            case ("central", let folder?): try await TourCentral.run(on: adapter, keepingIn: folder)
            case ("returning", let folder?): try await ReturningPeripheral.run(on: adapter, keepingIn: folder)
            case ("listening", let folder?): try await ReturningCentral.run(on: adapter, keepingIn: folder)
            default: throw Usage("which side: peripheral, or central, returning or listening FOLDER?")
            }
        }
    }
}
