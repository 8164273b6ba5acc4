import ArgumentParser
import BLE
import Glibc

/// The folder where bonds are kept.
struct StateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The folder of bonds. Default: $STATE_DIRECTORY, which systemd sets, else $XDG_STATE_HOME/bletool, else \
            ~/.local/state/bletool.
            """, valueName: "dir"), completion: .directory)
    var stateDir: String?
}

extension StateOptions {
    /// The folder: the one that was asked for, or the user's.
    func path(
        environment: (String) -> String? = Environment.value, home: () -> String? = Self.home
    ) throws(Failure) -> String {
        if let stateDir {
            guard !stateDir.isEmpty else { throw Failure(.usage, "--state-dir", "the path is empty") }
            return stateDir
        }
        // systemd gives several with a colon between them where a unit asks for several.
        if let first = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(first) }
        // The XDG specification requires relative paths to be ignored.
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/bletool" }
        guard let home = environment("HOME") ?? home() else {
            throw Failure(
                .input, "bonds", "this user has no home directory",
                hint: "--state-dir selects a folder for them")
        }
        return "\(home)/.local/state/bletool"
    }

    /// The bonds in the folder. Looking into one that is not there does not make it, unless `makesFolder`.
    func bonds(makesFolder: Bool = true) async throws(Failure) -> BondStore {
        let path = try path()
        guard makesFolder || access("\(path)/bonds", F_OK) == 0 || errno != ENOENT else { return BondStore() }
        do throws(BLEError) {
            return try await BondStore.open(path)
        } catch {
            throw Failure(error, while: "bonds")
        }
    }

    /// Gives `options` the bonds. `needsFolder`: bonds that cannot be kept are an error, not a note.
    func apply(
        to options: inout SecurityOptions, _ console: Console, needsFolder: Bool = false,
        makesFolder: Bool = true
    ) async throws(Failure) {
        do throws(Failure) {
            options.bonds = try await bonds(makesFolder: makesFolder || stateDir != nil)
            options.keepsStreamAddress = needsFolder || stateDir != nil
        } catch {
            if needsFolder || stateDir != nil { throw error }
            console.note("bonds are kept for this run only: \(error.message)")
        }
    }

    /// For commands that do not pair: the store resolves private addresses, and has the key of this host's own.
    func security(_ console: Console, _ global: GlobalOptions) async throws(Failure) -> SecurityOptions {
        var options = SecurityOptions()
        try await apply(to: &options, console, makesFolder: global.radio.privacy)
        return options
    }

    /// The home of the user in the system's list of users, for services that are started without HOME.
    private static func home() -> String? {
        guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return nil }
        return String(cString: folder)
    }
}
