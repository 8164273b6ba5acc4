import BLECore
import Glibc
import HCISocket

extension AdapterSpecification.KernelAdapter {
    /// Returns whether this specification names an adapter of a kernel.
    func names(_ adapter: KernelManagement.KnownAdapter, of kernel: any Kernel) -> Bool {
        switch self {
        case .index(let index): adapter.index == index
        case .address(let address):
            adapter.information.address == address
                || (adapter.information.current.contains(.staticAddress)
                    && kernel.files.identity(of: adapter.index)?.value == address)
        case .usb(let port): kernel.files.usbPort(of: adapter.index) == port
        }
    }

    /// Returns the adapter that this specification names among those that management does not list, because
    /// another process uses the adapter exclusively, or its driver is setting it up or failed to.
    func unlisted(by kernel: any Kernel) -> (index: UInt16, state: HCIDeviceState)? {
        let files = kernel.files
        var candidates = files.adapters
        if case .index(let index) = self { candidates = [index] }
        for index in candidates {
            guard let state = try? kernel.device(index) else { continue }
            switch self {
            case .index: return (index, state)
            case .address(let address) where state.address == address: return (index, state)
            case .usb(let port) where files.usbPort(of: index) == port: return (index, state)
            default: continue
            }
        }
        return nil
    }

    /// Returns the reason that management does not list the adapter, which was requested as `specification`.
    func whyUnlisted(by kernel: any Kernel, for specification: AdapterSpecification) -> AdapterProblem {
        guard let unlisted = unlisted(by: kernel) else {
            // A switch of the machine removes the whole device from the bus.
            let block = kernel.files.radioSwitches.first { !$0.name.hasPrefix("hci") && $0.block != nil }?
                .block
            return block.map { .blocked($0) } ?? .missing(specification)
        }
        guard unlisted.state.isUp else { return .notSetUp(unlisted.index) }
        return .inUse(Self.exclusiveHolder(kernel.files))
    }

    /// Returns the process that holds an adapter's user channel, as far as it is known.
    static func exclusiveHolder(_ files: SystemFiles) -> AdapterProblem.Holder {
        .userChannel(userChannelHolders(files))
    }

    /// Returns the processes that may hold an adapter's user channel: the kernel reports that the channel is
    /// in use, but not by which process.
    static func userChannelHolders(_ files: SystemFiles) -> [AdapterProblem.Holder.Process] {
        files.socketHolders.filter { $0.process != getpid() && $0.name != "bluetoothd" }
            .map { AdapterProblem.Holder.Process(name: $0.name, id: $0.process) }
    }
}
