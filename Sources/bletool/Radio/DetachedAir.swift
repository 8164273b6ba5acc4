import BLE
import CLinux
import Glibc
import HCISocket
import SystemPackage

extension AirLauncher {
    /// Starts `bletool air` as a process of its own, which ends some time after its last client. So all
    /// processes of a user share one air, whichever started it and however long that one lives.
    ///
    /// This process binds the socket and the new one inherits it: hosts can connect at once, and of two
    /// processes that start an air at the same time one binds it and the other joins.
    static let detached = AirLauncher { (path, loop) throws(BLEError) in
        do throws(PortError) {
            let (descriptor, _) = try StreamSockets.bind(to: .unix(path: path))
            defer { close(descriptor) }
            try spawn(["bletool", "air", "--background"], input: descriptor)
        } catch .system(.addressInUse, _) {
            return
        } catch {
            throw .port(error)
        }
    }

    /// Runs this program again with other words, in a session of its own: Ctrl-C in this terminal is not
    /// meant for it.
    private static func spawn(_ words: [String], input: CInt) throws(PortError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        // Whatever else this process was given, a pipe of its caller perhaps, would stay open as long as the air.
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
