import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.47 to 7.8.49.
    static let phyCommands: [CommandHandler] = [
        .answer(LEReadPHY.self) { (controller, command, _) throws(HCIStatus) in
            let link = controller.links[try controller.index(of: command.connection)]
            return LEReadPHY.ReturnParameters(
                connection: link.handle, transmit: link.phys.transmit, receive: link.phys.receive)
        },
        .perform(LESetDefaultPHY.self) { (controller, command, _) throws(HCIStatus) in
            try controller.check(command.preference)
            controller.settings.phyPreference = command.preference
        },
        .perform(LESetPHY.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try controller.check(command.preference)
            try controller.begin(.phys, on: index)
            controller.links[index].phyPreference = command.preference
            controller.sendPHYRequest(on: index)
        },
    ]

    /// Refuses a direction for which there is a preference but none is named, and PHYs that are not there.
    private func check(_ preference: PHYPreference) throws(HCIStatus) {
        try Self.check(preference.indifferent.rawValue <= 3)
        for (direction, wanted) in [
            (PHYPreference.Indifference.transmit, preference.transmit), (.receive, preference.receive),
        ] where !preference.indifferent.contains(direction) {
            try Self.check(!wanted.isEmpty)
            try Self.check(wanted.isSubset(of: phys), .unsupportedFeatureOrParameterValue)
        }
    }
}
