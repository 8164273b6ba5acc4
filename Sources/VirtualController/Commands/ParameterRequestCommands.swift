import BLECore
import HCI

/// The Connection Parameters Request procedure (Core Specification 5.4, Vol 6, Part B, 5.1.7): a peripheral
/// sends a request, and the central's host decides. A central does not use the procedure here, because it can
/// change the parameters itself.
extension VirtualController {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.31 and 7.8.32.
    static let parameterRequestCommands: [CommandHandler] = [
        .answer(LERemoteConnectionParameterRequestReply.self) {
            (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try check(command.parameters.isInRange)
            try controller.takeAnswer(on: index)
            controller.send(.update(LinkTiming(command.parameters)), on: index)
            return Returned(command.connection)
        },
        .answer(LERemoteConnectionParameterRequestNegativeReply.self) {
            (controller, command, _) throws(HCIStatus) in
            let index = try controller.index(of: command.connection)
            try controller.takeAnswer(on: index)
            controller.send(.parametersRejected(command.reason), on: index)
            return Returned(command.connection)
        },
    ]

    /// Requests the host's decision about the parameters that the peripheral requests, if the host has
    /// enabled the event.
    mutating func receiveParameterRequest(
        _ wanted: LEConnectionParameters, on index: Int, at now: Instant
    ) {
        guard isExtended, reports(.remoteConnectionParameterRequest) else {
            return send(.parametersRejected(.unsupportedRemoteFeature), on: index)
        }
        // The central's own procedure takes precedence (Vol 6, Part B, 5.3).
        guard !links[index].pending.contains(.update) else {
            return send(.parametersRejected(.llProcedureCollision), on: index)
        }
        links[index].question = now + .seconds(40)
        emit(
            LERemoteConnectionParameterRequest(
                connection: links[index].handle, intervalMin: wanted.intervalMin,
                intervalMax: wanted.intervalMax, latency: wanted.latency,
                supervisionTimeout: wanted.supervisionTimeout))
    }

    /// Accepts the host's answer; throws if no request is pending, because a request can be answered only
    /// once.
    private mutating func takeAnswer(on index: Int) throws(HCIStatus) {
        try Self.check(links[index].question != nil, .commandDisallowed)
        links[index].question = nil
    }
}

extension LinkTiming {
    /// Creates the timing that a central selects from parameters, with the minimum interval of their range.
    init(_ parameters: LEConnectionParameters) {
        self.init(
            interval: parameters.intervalMin, latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout)
    }
}
