import BLECore
import HCI

/// A problem of an adapter's controller, or what the adapter does about it.
public enum AdapterHealthEvent: Hashable, Sendable {
    /// No packet was received for this time, so the scan was restarted. In a quiet place that is normal.
    case scanRestarted(silence: Duration)
    /// The kernel or another program stopped the scan or changed its parameters; the adapter has restarted it.
    case scanTakenBack
    /// The adapter uses the scan of another program, in which the controller reports each device once. Devices
    /// that it has reported before, later changes of a device, and other advertisements of its address are not
    /// received.
    case scanJoinedWithoutRepeats
    /// Other programs have switched the scan so often within a minute that the adapter leaves it to them for this
    /// time.
    case scanLeft(for: Duration, restarts: Int)
    /// The controller has refused to continue a scan that ran before, for a reason that can pass, such as an
    /// attempt of another program to connect. It is asked again after this time, 1 to 32 s.
    case scanPostponed(HCIStatus, for: Duration)
    /// A central has connected, but the kernel has given its channel to another program, since the newest
    /// listener receives it. The value is the process number of bluetoothd, if that runs. Only a server that is
    /// started again receives the next central.
    case centralTaken(by: Int32?)
    /// The controller has failed, and a step is taken to recover it.
    case recovering(AdapterFault, by: RecoveryStep)
    /// The controller has failed. Recovery would end this many links, so it waits until they have ended, as
    /// `AdapterOptions.recoversWithLinks` describes.
    case postponed(AdapterFault, links: Int)
    /// The controller answers this command again without a recovery; none is pending any more.
    case answersAgain(command: HCIOpcode)
    /// The controller works again, and its activities were restarted.
    case recovered(by: RecoveryStep)
    /// No step has recovered the controller. The adapter ends with `AdapterProblem.failed`. On `user:hciN` no
    /// step switches the power: opening the adapter again does.
    case gaveUp(AdapterFault)
}

extension AdapterHealthEvent: CustomStringConvertible {
    /// A description of the event in one line.
    public var description: String {
        switch self {
        case .scanRestarted(let silence):
            "nothing received for \(silence.wholeSeconds.phrase): the scan is restarted"
        case .scanTakenBack: "another program switched the scan: it is switched on again"
        case .scanJoinedWithoutRepeats:
            "another program scans so that each device is reported once: devices reported before, their changes, and their other advertisements are not received"
        case .scanLeft(let duration, let restarts):
            "others have switched the scan \(restarts) times in a minute: it is left to them for \(duration.wholeSeconds.phrase)"
        case .scanPostponed(let status, let duration):
            "the controller does not scan now (\(status)): it is asked again in \(duration.wholeSeconds.phrase)"
        case .centralTaken(let daemon):
            """
            \(daemon.map { "bluetoothd (process \($0))" } ?? "another program") has taken a central's link, because \
            it started listening later: restart this program
            """
        case .recovering(let fault, let step): "\(fault): \(step)"
        case .postponed(let fault, let links):
            "\(fault): recovery waits for the end of \(links) \(links == 1 ? "link" : "links")"
        case .answersAgain(let command): "the controller answers \(command) again"
        case .recovered: "the controller is back"
        case .gaveUp(let fault): "\(fault), and recovery failed"
        }
    }
}

extension Duration {
    /// The duration in whole seconds; fractions are dropped.
    fileprivate var wholeSeconds: Duration { .seconds(components.seconds) }
}
