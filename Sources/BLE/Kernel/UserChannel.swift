import BLECore
import Glibc
import HCISocket
import SystemPackage

/// An adapter that this process has taken from the kernel, and the state that it has to restore.
final class UserChannel: Sendable {
    let index: UInt16
    private let management: KernelManagement
    /// The address of the adapter if it was powered on before, and so has to be afterwards; nil if it was
    /// off.
    private let powered: UInt64?

    private init(index: UInt16, management: KernelManagement, powered: UInt64?) {
        self.index = index
        self.management = management
        self.powered = powered
    }

    /// The maximum time to wait for an adapter that is busy: a kernel that has just found it takes up to two
    /// seconds to set it up.
    private static let timeLimit = Duration.seconds(2)

    /// Switches the adapter off and opens its user channel.
    static func take(
        _ wanted: AdapterSpecification.KernelAdapter, of kernel: any Kernel, on loop: EventLoop
    ) async throws(BLEError) -> (UserChannel, any PacketPort) {
        let management = try await KernelManagement.open(kernel, on: loop)
        // Any event of an adapter wakes the attempt, for which the newest event is enough.
        let changes = StreamBuffer<ManagementEvent>(.newest(1))
        await management.observe { changes.yield($1) }
        var taking = Taking(wanted: wanted, management: management, loop: loop)
        do throws(BLEError) {
            while true {
                if let port = try await taking.attempt(), let index = taking.index {
                    await management.observe(nil)
                    let channel = UserChannel(index: index, management: management, powered: taking.powered)
                    return (channel, port)
                }
                let left = taking.begun.duration(until: loop.now)
                guard left < timeLimit else { throw taking.problem }
                _ = try await withDeadline(timeLimit - left, on: loop, orThrow: taking.problem) {
                    () throws(BLEError) in try await changes.next()
                }
            }
        } catch {
            if let index = taking.index {
                let owed = UserChannel(index: index, management: management, powered: taking.powered)
                await owed.giveBack()
            }
            await management.close()
            throw error
        }
    }

    /// Restores the state in which the adapter was found, once the channel is closed.
    func giveBack() async {
        // Another adapter may have the index by now.
        if let powered, (try? await management.information(of: index))?.address == powered {
            _ = try? await management.request(
                .setPowered(true), index: index, operation: .switchPower(index, on: true))
        }
        await management.close()
    }
}

/// The attempts to take one adapter.
private struct Taking {
    let wanted: AdapterSpecification.KernelAdapter
    let management: KernelManagement
    let loop: EventLoop
    let begun: Instant
    /// The adapter, once it is found.
    var index: UInt16?
    /// The address of the adapter, if it was on and this process has switched it off.
    var powered: UInt64?
    /// The error of the last attempt.
    var problem = BLEError.cancelled

    init(wanted: AdapterSpecification.KernelAdapter, management: KernelManagement, loop: EventLoop) {
        (self.wanted, self.management, self.loop) = (wanted, management, loop)
        begun = loop.now
    }

    /// Tries to open the channel. Returns nil while the adapter is busy; throws when waiting would not help.
    mutating func attempt() async throws(BLEError) -> (any PacketPort)? {
        let kernel = management.kernel
        let listed = try await management.adapters().first { wanted.names($0, of: kernel) }
        let isListed = listed != nil
        if let found = listed {
            index = found.index
            if found.information.current.contains(.powered) {
                // Noted before the answer: if there is none in time, the kernel may still carry the command
                // out.
                powered = found.information.address
                _ = try await management.request(
                    .setPowered(false), index: found.index,
                    operation: .takeUserChannel(found.index))
            }
        } else {
            guard let unlisted = wanted.unlisted(by: kernel) else {
                throw .adapter(wanted.whyUnlisted(by: kernel, for: .userChannel(wanted)))
            }
            index = unlisted.index
        }
        guard let index else { return nil }
        do throws(PortError) {
            return try kernel.user(index, on: loop)
        } catch {
            switch error.errno {
            case .resourceBusy?:
                // Another program used the adapter until now, or it has just been added and is not set up
                // yet.
                problem = .adapter(
                    isListed
                        ? .inUse(.powerSwitch(index))
                        : wanted.whyUnlisted(by: kernel, for: .userChannel(wanted)))
                return nil
            case .tooManyUsers?:
                throw .adapter(.inUse(AdapterSpecification.KernelAdapter.exclusiveHolder(kernel.files)))
            case .init(rawValue: ERFKILL)?:
                throw .adapter(.blocked(kernel.files.block(of: index) ?? .software))
            case .permissionDenied?, .notPermitted?, .addressFamilyNotSupported?, .init(rawValue: ENODEV)?:
                throw .kernel(
                    error, operation: .takeUserChannel(index), capability: .netAdmin,
                    kernel.files)
            default: throw .adapter(.cannotPower(index, .system(error)))
            }
        }
    }
}
