/// When an indication is confirmed. Until then the server sends no other (Core Specification 5.4, Vol 3,
/// Part F, 3.4.7.2).
public enum IndicationConfirmation: Hashable, Sendable {
    /// As soon as it is in the stream's buffer.
    case whenQueued
    /// When the consumer has taken it, or after 25 s: the server would give up the link after 30 s.
    case whenTaken
}
