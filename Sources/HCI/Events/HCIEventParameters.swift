import BLECore

/// The parameters of an event: the octets after its code and length.
package protocol HCIEventParameters: HCIParameters {
    /// The event code and the parameters in the order of the wire.
    static var definition: HCIDefinition<HCIEventCode, Self> { get }
}

extension HCIEventParameters {
    /// Returns the definition of this event, as `HCICommand.command` does for a command.
    static func event<each Field: HCIField>(
        _ code: HCIEventCode, _ names: StaticString, _ make: @escaping @Sendable (repeat each Field) -> Self,
        _ fields: @escaping @Sendable (Self) -> (repeat each Field)
    ) -> HCIDefinition<HCIEventCode, Self> {
        HCIDefinition(code: code, layout: HCILayout(names, make, fields))
    }

    package static var code: HCIEventCode { definition.code }
    /// The parameters in the order of the wire.
    package static var layout: HCILayout<Self> { definition.layout }
    /// The name of the event in the specification.
    package static var packetName: String { code.description }
    package var packet: HCIEventPacket { HCIEventPacket(code: Self.code, parameters: encoded) }
}

/// The parameters of a Low Energy event: the octets after its subevent code.
package protocol LEEventParameters: HCIParameters {
    /// The subevent code and the parameters in the order of the wire.
    static var definition: HCIDefinition<LESubevent, Self> { get }
}

extension LEEventParameters {
    /// Returns the definition of this event, as `HCICommand.command` does for a command.
    static func event<each Field: HCIField>(
        _ code: LESubevent, _ names: StaticString, _ make: @escaping @Sendable (repeat each Field) -> Self,
        _ fields: @escaping @Sendable (Self) -> (repeat each Field)
    ) -> HCIDefinition<LESubevent, Self> {
        HCIDefinition(code: code, layout: HCILayout(names, make, fields))
    }

    package static var subevent: LESubevent { definition.code }
    /// The parameters in the order of the wire.
    package static var layout: HCILayout<Self> { definition.layout }
    /// The name of the event in the specification.
    package static var packetName: String { subevent.description }
    package var packet: HCIEventPacket {
        HCIEventPacket(code: .leMeta, parameters: [Self.subevent.rawValue] + encoded)
    }
}
