import BLECore
import HCI

extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.1.23, 7.3.35, 7.5.4 and 7.8.19 to 7.8.21.
    static let linkCommands: [CommandHandler] = [
        .perform(ReadRemoteVersionInformation.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try controller.begin(.version, on: index)
            controller.send(.versionRequest, on: index)
        },
        .perform(LEReadRemoteFeatures.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try controller.begin(.features, on: index)
            controller.send(.featureRequest, on: index)
        },
        .answer(ReadRSSI.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            return ReturnedForConnection(command.connection, controller.links[index].rssi)
        },
        .answer(ReadTransmitPowerLevel.self) { (controller, command, _) throws(HCIStatus) in
            _ = try controller.index(of: command.connection)
            try check(command.kind == .current || command.kind == .maximum)
            return ReturnedForConnection(command.connection, controller.configuration.transmitPower)
        },
        .perform(LESetHostChannelClassification.self) { (controller, command, _) throws(HCIStatus) in
            let channels = command.channels.rawValue & ChannelMap.all.rawValue
            try check(channels != 0)
            controller.settings.hostChannels = ChannelMap(rawValue: channels)
            for index in controller.links.indices where controller.links[index].role == .central {
                controller.links[index].channels = controller.settings.hostChannels
                controller.send(.channels(controller.settings.hostChannels), on: index)
            }
        },
        .answer(LEReadChannelMap.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            return ReturnedForConnection(command.connection, controller.links[index].channels)
        },
    ]

    /// Core Specification 5.4, Vol 4, Part E, 7.8.33 to 7.8.35 and 7.8.46.
    static let dataLengthCommands: [CommandHandler] = [
        .answer(LESetDataLength.self) { (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try check(command.transmit)
            let wanted = command.transmit.limited(to: .maximum)
            if wanted != controller.links[index].wantedLength {
                controller.links[index].wantedLength = wanted
                controller.sendLengthRequest(on: index)
            }
            return Returned(command.connection)
        },
        .answer(LEReadSuggestedDefaultDataLength.self) { controller, _, _ in
            controller.settings.suggestedLength
        },
        .perform(LEWriteSuggestedDefaultDataLength.self) { (controller, command, _) throws(HCIStatus) in
            try check(command.transmit)
            controller.settings.suggestedLength = command.transmit
        },
        .answer(LEReadMaximumDataLength.self) { _, _, _ in
            LEReadMaximumDataLength.ReturnParameters(transmit: .maximum, receive: .maximum)
        },
    ]

    private static func check(_ length: DataLength) throws(HCIStatus) {
        try check((27...251).contains(length.octets) && (328...17_040).contains(length.time))
    }
}

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

    /// Rejects a direction with a preference but without PHYs, and PHYs that the controller does not support.
    private func check(_ preference: PHYPreference) throws(HCIStatus) {
        try Self.check(preference.noPreference.rawValue <= 3)
        for (direction, wanted) in [
            (PHYPreference.NoPreference.transmit, preference.transmit), (.receive, preference.receive),
        ] where !preference.noPreference.contains(direction) {
            try Self.check(!wanted.isEmpty)
            try Self.check(wanted.isSubset(of: phys), .unsupportedFeatureOrParameterValue)
        }
    }
}
