import BLE
import ExampleSupport

/// All that Core Bluetooth's two roles can do, step by step and a line for each: a central visits a peripheral.
///
///     tour ADAPTER peripheral
///     tour ADAPTER central FOLDER
///     tour ADAPTER returning FOLDER
///
/// The last one is a peripheral that comes back as it was. What the next start is to know is kept in the folder.
@main enum Tour {
    static func main() async {
        await Program.run { adapter, arguments in
            switch (arguments.first, arguments.dropFirst().first) {
            case ("peripheral", nil): try await TourPeripheral.run(on: adapter)
            case ("central", let folder?): try await TourCentral.run(on: adapter, keepingIn: folder)
            case ("returning", let folder?): try await ReturningPeripheral.run(on: adapter, keepingIn: folder)
            default: throw Usage("which side: peripheral, central FOLDER or returning FOLDER?")
            }
        }
    }
}
