import ArgumentParser
import BLE
import Glibc
import SystemPackage

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
        guard makesFolder || Self.mayExist("\(path)/bonds") else { return BondStore() }
        return try await failing { () throws(BLEError) in try await BondStore.open(path) }
    }

    /// Reads the bonds in the folder, in which nothing is changed.
    func copyOfBonds() async throws(Failure) -> BondStore {
        let path = try path()
        return try await failing { () throws(BLEError) in try await BondStore.copy(of: path) }
    }

    private func failing(
        _ body: () async throws(BLEError) -> BondStore
    ) async throws(Failure) -> BondStore {
        do throws(BLEError) {
            return try await body()
        } catch {
            throw Failure(error, while: stateDir == nil ? "bonds" : "--state-dir")
        }
    }

    /// Sets the bonds of `options`. If `needsFolder`, or with `--state-dir`, bonds that cannot be stored are
    /// an error instead of a note. If `needsAll`, a bond that this user may not read is an error.
    func apply(
        to options: inout SecurityOptions, _ console: Console, needsFolder: Bool = false,
        makesFolder: Bool = true, needsAll: Bool = true
    ) async throws(Failure) {
        do throws(Failure) {
            options.bonds = try await bonds(makesFolder: makesFolder || stateDir != nil)
            options.keepsStreamAddress = needsFolder || stateDir != nil
        } catch {
            if needsFolder || stateDir != nil || needsAll && isUnreadable(error) { throw error }
            console.note("bonds are kept for this run only: \(error.message)")
            return
        }
        if needsAll, let failure = unreadable(options.bonds) { throw failure }
    }

    /// Returns whether the failure is that this user may not read bonds that exist. A folder that cannot be
    /// created has no bonds.
    private func isUnreadable(_ failure: Failure) -> Bool {
        guard failure.kind == .permission, let path = try? path() else { return false }
        return Self.mayExist("\(path)/bonds")
    }

    /// Returns whether a path exists, also as a link that points to nothing, or cannot be looked up.
    private static func mayExist(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || errno != ENOENT && errno != ENOTDIR
    }

    /// Returns a failure if the folder has bonds that this user may not read. A command that pairs would pair
    /// again with such a device.
    func unreadable(_ bonds: BondStore) -> Failure? {
        for case .system(let errno, let call) in bonds.problems
        where [.permissionDenied, .notPermitted].contains(errno) {
            return Failure(
                .bonds(.system(errno, during: call)), while: stateDir == nil ? "bonds" : "--state-dir")
        }
        return nil
    }

    /// Returns the options of a command that does not pair. The stored bonds resolve private addresses, and
    /// the store has the key for this host's own private addresses. An adapter that has its address for this
    /// run only uses neither, unless `--state-dir` is given.
    func security(_ console: Console, _ global: GlobalOptions) async throws(Failure) -> SecurityOptions {
        var options = SecurityOptions()
        let hasPassingAddress = try global.radio.hasPassingAddress()
        guard stateDir != nil || !hasPassingAddress else { return options }
        try await apply(to: &options, console, makesFolder: global.radio.privacy, needsAll: false)
        return options
    }

    /// Returns the home folder in the system's list of users, for services that are started without HOME.
    private static func home() -> String? {
        guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return nil }
        return String(cString: folder)
    }
}
