import BLE
import ExampleSupport

/// A tour of the features of Core Bluetooth's two roles: a central connects to a peripheral, and each step
/// prints a line.
///
///     tour ADAPTER peripheral
///     tour ADAPTER central FOLDER [PERIPHERALS]
///     tour ADAPTER returning FOLDER
///     tour ADAPTER listening FOLDER
///     tour ADAPTER hiding FOLDER
///     tour ADAPTER recognizing FOLDER
///
/// PERIPHERALS is the number of devices with a name "Grand…" whose batteries the central reads at the same time, by default 1.
/// `returning` and `listening` are a peripheral and a central that are restored when they start again. `hiding` and
/// `recognizing` are a peripheral and a central with private addresses, which recognize each other by their bond. All of
/// them keep their state in the folder.
@main enum Tour {
    static func main() async {
        await Program.run(options: options) { adapter, arguments in
            switch (arguments.first, arguments.dropFirst().first) {
            case ("peripheral", nil): try await TourPeripheral.run(on: adapter)
            case ("central", let folder?):
                let peripherals = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1
                try await TourCentral.run(on: adapter, keepingIn: folder, peripherals: peripherals)
            case ("returning", let folder?): try await ReturningPeripheral.run(on: adapter, keepingIn: folder)
            case ("listening", let folder?): try await ReturningCentral.run(on: adapter, keepingIn: folder)
            case ("hiding", let folder?): try await HidingPeripheral.run(on: adapter, keepingIn: folder)
            case ("recognizing", .some): try await RecognizingCentral.run(on: adapter)
            default: throw Usage("peripheral, or a side and FOLDER, is missing after the adapter")
            }
        }
    }

    /// Returns options with bonds in the folder and private addresses, for the two roles that use them.
    @Sendable private static func options(_ arguments: [String]) async throws -> AdapterOptions {
        var options = AdapterOptions()
        guard arguments.count == 2, ["hiding", "recognizing"].contains(arguments[0]) else { return options }
        options.security.bonds = try await BondStore.open(arguments[1])
        // Behind a socket, this program always has the same controller.
        options.security.keepsStreamAddress = true
        options.privacy = PrivacyOptions(isEnabled: true, addressLifetime: .seconds(4))
        return options
    }
}
