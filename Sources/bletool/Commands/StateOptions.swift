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
    /// Returns the folder of `--state-dir`, or the default folder.
    func path(
        environment: (String) -> String? = Environment.value, home: () -> String? = Self.home
    ) throws(Failure) -> String {
        if let stateDir {
            guard !stateDir.isEmpty else { throw Failure(.usage, "--state-dir", "the path is empty") }
            return stateDir
        }
        // If a unit requests several folders, systemd separates them with colons.
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

    /// Opens the bonds in the folder. A missing folder is created only if `makesFolder`; otherwise the store
    /// is empty.
    func bonds(makesFolder: Bool = true) async throws(Failure) -> BondStore {
        let path = try path()
        guard makesFolder || access("\(path)/bonds", F_OK) == 0 || errno != ENOENT else { return BondStore() }
        do throws(BLEError) {
            return try await BondStore.open(path)
        } catch {
            throw Failure(error, while: stateDir == nil ? "bonds" : "--state-dir")
        }
    }

    /// Sets the bonds of `options`. If `needsFolder`, or with `--state-dir`, bonds that cannot be stored are
    /// an error instead of a note.
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

    /// Returns the options of a command that does not pair. The stored bonds resolve private addresses, and
    /// the store has the key for this host's own private addresses.
    func security(_ console: Console, _ global: GlobalOptions) async throws(Failure) -> SecurityOptions {
        var options = SecurityOptions()
        try await apply(to: &options, console, makesFolder: global.radio.privacy)
        return options
    }

    /// Returns the home folder in the system's list of users, for services that are started without HOME.
    private static func home() -> String? {
        guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return nil }
        return String(cString: folder)
    }
}
