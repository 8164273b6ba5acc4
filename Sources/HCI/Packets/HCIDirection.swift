/// Which way a packet goes between host and controller.
public enum HCIDirection: String, Hashable, Sendable {
    /// Commands and outgoing data.
    case hostToController = "host→controller"
    /// Events and incoming data.
    case controllerToHost = "controller→host"
}
