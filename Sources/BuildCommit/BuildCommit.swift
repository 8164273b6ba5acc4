/// The commit that this was built from, and `-dirty` after it where what was built is in no commit; nil without a
/// checkout. The plugin CommitOfBuild writes what it is.
package var buildCommit: String? {
    let commit = "\(commitOfCheckout)"
    return commit.isEmpty ? nil : commit
}
