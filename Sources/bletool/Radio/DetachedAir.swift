import BLE
import CLinux
import Glibc
import HCISocket
import SystemPackage

extension AirLauncher {
    /// Starts `bletool air` as a separate process, which ends some time after its last client. All processes
    /// of a user share that air, regardless of which one started it and how long that one runs.
    ///
    /// This process binds the socket and the new one inherits it, so hosts can connect immediately. If two
    /// processes start an air at the same time, one binds the socket and the other joins that air.
    static let detached = AirLauncher { (path, loop) throws(BLEError) in
        let place = try AirPlace(path)
        do throws(PortError) {
            let (descriptor, _) = try await StreamSockets.bind(to: place.address, in: place.folder)
            defer { close(descriptor) }
            try spawn(["bletool", "air", "--background"], input: descriptor)
        } catch .system(.addressInUse, _) {
            return
        } catch {
            throw .port(error)
        }
    }

    /// Runs this program with other arguments in a new session, so that Ctrl-C in this terminal does not
    /// reach it.
    private static func spawn(_ words: [String], input: CInt) throws(PortError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        // Other descriptors of this process, such as a pipe of its caller, would stay open as long as the
        // air.
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | newSession)

        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw .system(.init(rawValue: code), during: "starting the virtual air") }
    }

    /// POSIX_SPAWN_SETSID, which glibc hides behind _GNU_SOURCE.
    private static let newSession: Int16 = 0x80
}
