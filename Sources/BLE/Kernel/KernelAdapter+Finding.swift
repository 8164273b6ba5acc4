import BLECore
import Glibc
import HCISocket

extension AdapterSpecification.KernelAdapter {
    /// Whether this names the adapter.
    func names(_ adapter: KernelManagement.KnownAdapter) -> Bool {
        switch self {
        case .index(let index): adapter.index == index
        case .address(let address):
            adapter.information.address == address
                || (adapter.information.current.contains(.staticAddress)
                    && SystemFiles().identity(of: adapter.index)?.value == address)
        case .usb(let port): SystemFiles().usbPort(of: adapter.index) == port
        }
    }

    /// The adapter that this names among those that management does not list: another process has it to
    /// itself, or its driver is setting it up or could not.
    var unlisted: (index: UInt16, state: HCIDeviceState)? {
        let files = SystemFiles()
        var candidates = files.adapters
        if case .index(let index) = self { candidates = [index] }
        for index in candidates {
            guard let state = try? HCISockets.device(index) else { continue }
            switch self {
            case .index: return (index, state)
            case .address(let address) where state.address == address: return (index, state)
            case .usb(let port) where files.usbPort(of: index) == port: return (index, state)
            default: continue
            }
        }
        return nil
    }

    /// Why management does not list the adapter.
    var whyUnlisted: AdapterProblem {
        guard let unlisted else {
            // A machine's switch takes the whole device off the bus.
            let block = SystemFiles().radioSwitches.first { !$0.name.hasPrefix("hci") && $0.block != nil }?
                .block
            return block.map { .blocked($0) } ?? .missing("\(self)")
        }
        return unlisted.state.isUp ? .inUse(Self.exclusiveHolder) : .notSetUp("hci\(unlisted.index)")
    }

    /// Who may have an adapter's user channel: the kernel tells that somebody has, and not who.
    static var exclusiveHolder: String {
        let others = SystemFiles().socketHolders.filter { $0.process != getpid() && $0.name != "bluetoothd" }
        let names = others.map { "\($0.name) (process \($0.process))" }
        return (names.isEmpty ? "another process" : names.joined(separator: " or "))
            + ", which has it to itself (HCI user channel)"
    }
}
