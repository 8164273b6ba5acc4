/// "Did you mean": suggests the known word that is most similar to an unknown one.
extension Collection where Element == String {
    /// Returns the word that the fewest edits (an insertion, a removal, a replacement or a swap of neighbors,
    /// case ignored) turn into `word`, or nil if that needs more than one edit and more than a third of the
    /// letters.
    func nearest(to word: some StringProtocol) -> String? {
        let wanted = Array(word.lowercased().unicodeScalars.prefix(64))
        let ranked = map { (word: $0, edits: edits(Array($0.lowercased().unicodeScalars), wanted)) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }),
            best.edits <= Swift.max(1, Swift.min(best.word.count, wanted.count) / 3)
        else { return nil }
        return best.word
    }

    /// Returns `; did you mean "services"?`, or an empty text, to follow a message.
    func suggestion(for word: some StringProtocol) -> String {
        nearest(to: word).map { "; did you mean \"\($0)\"?" } ?? ""
    }
}

/// Returns the optimal string alignment distance.
private func edits(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
        var current = [row + 1]
        for column in right.indices {
            let same = left[row] == right[column]
            var best = Swift.min(last[column + 1] + 1, current[column] + 1, last[column] + (same ? 0 : 1))
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                best = Swift.min(best, beforeLast[column - 1] + 1)
            }
            current.append(best)
        }
        (beforeLast, last) = (last, current)
    }
    return last[right.count]
}
