import BuildCommit

/// What `--version` says. The one file that is compiled anew after each commit.
enum Version {
    /// The version, and the commit when that is known.
    static var text: String { "0.1.0" + (buildCommit.map { " (\($0))" } ?? "") }
}
