import BLECore
import HCI
import HCISocket
import Logging
import SystemPackage

extension Adapter {
    /// Takes a kernel adapter for this process alone.
    static func openUserChannel(
        _ specification: AdapterSpecification, _ wanted: AdapterSpecification.KernelAdapter,
        _ options: AdapterOptions
    ) async throws(BLEError) -> Adapter {
        let (channel, port) = try await UserChannel.take(wanted, of: options.kernel, on: options.loop)
        return try await start(specification, on: port, options, of: channel)
    }

    /// Opens a serial port with a controller behind it.
    static func serialPort(
        _ path: String, baud: UInt32, flowControl: Bool, on loop: EventLoop
    ) throws(BLEError) -> any PacketPort {
        do throws(PortError) {
            let descriptor = try SerialLine.open(path, baud: baud, flowControl: flowControl)
            return H4Port(
                descriptor, on: loop, expecting: HCIPacketType.fromController, recovers: true)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .noSuchAddressOrDevice:
                throw .adapter(
                    .missing(.serial(path: path, baud: baud, flowControl: flowControl)))
            case .permissionDenied: throw .fileAccess(path: path)
            case .resourceBusy: throw .adapter(.inUse(.serialPort(path: path)))
            case .inappropriateIOCTLForDevice: throw .adapter(.notSerial(path: path))
            default: throw .port(error)
            }
        }
    }
}
