import BLECore

extension BLEError {
    /// An operation that was requested from the kernel.
    public enum KernelOperation: Hashable, Sendable {
        /// Listing the adapters, on the kernel's management socket.
        case listAdapters
        /// Reading the settings of the adapter with this index.
        case readAdapter(UInt16)
        /// Listing the links of the adapter with this index.
        case listLinks(UInt16)
        /// Opening the raw socket of the adapter with this index.
        case open(UInt16)
        /// Sending HCI commands to this adapter.
        case sendCommands(AdapterSpecification)
        /// Switching the power of the adapter with this index.
        case switchPower(UInt16, on: Bool)
        /// Switching the adapter with this index off and on, to recover its controller.
        case cyclePower(UInt16)
        /// Switching Bluetooth Low Energy of the adapter with this index.
        case switchLowEnergy(UInt16, on: Bool)
        /// Taking the adapter with this index for this process alone.
        case takeUserChannel(UInt16)
        /// Setting up pairing on the adapter with this index.
        case setUpPairing(UInt16)
        /// Restoring the earlier pairing settings of the adapter with this index.
        case restorePairing(UInt16)
        /// Answering a question that the kernel asks while it pairs with that device.
        case answerPairing(DeviceAddress)
        /// Recording the packets of the adapter with this index; nil for all adapters.
        case record(UInt16?)
        /// Connecting to a device by an L2CAP socket.
        case connect
        /// Listening for centrals on an L2CAP socket.
        case listen
    }
}

extension BLEError.KernelOperation: CustomStringConvertible {
    /// A gerund for messages: "opening hci0".
    public var description: String {
        switch self {
        case .listAdapters: "listing the adapters"
        case .readAdapter(let index): "reading the settings of hci\(index)"
        case .listLinks(let index): "listing the links of hci\(index)"
        case .open(let index): "opening hci\(index)"
        case .sendCommands(let adapter): "sending commands to \(adapter)"
        case .switchPower(let index, let isOn): "switching hci\(index) \(isOn ? "on" : "off")"
        case .cyclePower(let index): "switching hci\(index) off and on"
        case .switchLowEnergy(let index, let isOn): "switching LE \(isOn ? "on" : "off") for hci\(index)"
        case .takeUserChannel(let index): "taking hci\(index) from the kernel"
        case .setUpPairing(let index): "setting up pairing on hci\(index)"
        case .restorePairing(let index): "setting pairing on hci\(index) back"
        case .answerPairing(let peer): "answering for \(peer)"
        case .record(let index?): "recording hci\(index)"
        case .record(nil): "recording the kernel's adapters"
        case .connect: "connecting"
        case .listen: "listening for centrals"
        }
    }
}
