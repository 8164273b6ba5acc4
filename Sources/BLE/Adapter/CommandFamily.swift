/// The two sets of LE commands for advertising, scanning and connecting. A controller that has seen one of
/// the extended set answers the legacy ones with Command Disallowed until it is reset, and the other way
/// round (Core Specification 5.4, Vol 4, Part E, 3.1.1).
enum CommandFamily {
    case legacy
    case extended
}
