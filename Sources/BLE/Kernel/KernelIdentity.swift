import BLECore
import HCISocket

extension KernelManagement.KnownAdapter {
    /// The address by which others know the adapter and its links. An adapter without BR/EDR may have a random static
    /// one in place of the public one, which management does not report.
    func identity(_ files: SystemFiles) throws(BLEError) -> DeviceAddress {
        guard information.current.contains(.staticAddress) else {
            return DeviceAddress(information.address, type: .public)
        }
        guard let identity = files.identity(of: index) else {
            throw .unknownIdentity(path: SystemFiles.identityFile(of: index))
        }
        return identity
    }
}
