import HCISocket

/// How an adapter is opened.
public struct AdapterOptions: Sendable {
    /// The loop to live on.
    public var loop: EventLoop
    /// Takes every packet, for a recording. On kernel adapters also those of the kernel and of others, from
    /// the monitor channel.
    public var capture: CaptureSink?
    /// The socket of the air that virtual adapters join; nil: the user's own.
    public var airPath: String?
    /// Starts an air at a path when none runs. The default runs it in this process, so that it ends with
    /// the process.
    public var airLauncher: AirLauncher

    /// The shared loop, no capture, and the user's own air.
    public init(
        loop: EventLoop = .shared, capture: CaptureSink? = nil, airPath: String? = nil,
        airLauncher: AirLauncher = .inProcess
    ) {
        self.loop = loop
        self.capture = capture
        self.airPath = airPath
        self.airLauncher = airLauncher
    }
}
