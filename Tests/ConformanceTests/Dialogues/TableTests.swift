import Foundation
import Testing

/// Returns the rows of the tables of tests in `Fixtures/dialogues/README.md`: an id and whether it is covered.
private func rows() throws -> [(id: String, status: String)] {
    let text = try String(contentsOf: Dialogue.directory.appending(path: "README.md"), encoding: .utf8)
    return text.split(separator: "\n").compactMap { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 3, cells[0].hasPrefix("GATT/") else { return nil }
        return (cells[0], cells[2])
    }
}

/// Returns whether an id is one of the SIG's, such as `GATT/SR/GAR/BV-01-C`.
private func isOfficial(_ id: String) -> Bool {
    id.wholeMatch(of: /GATT\/(CL|SR)\/(G..|UNS)\/B[VI]-\d\d-C/) != nil
}

@Test func tableMatchesDialogues() throws {
    let rows = try rows()
    let ids = rows.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy(isOfficial))
    #expect(rows.allSatisfy { $0.status == "covered" || $0.status.hasPrefix("not applicable: ") })
    let covered = Set(rows.filter { $0.status == "covered" }.map(\.id))
    #expect(covered == Set(Dialogue.all.map(\.id).filter(isOfficial)))
}

/// A variant such as `GATT/SR/GAR/BV-04-C/fits` is a case of a test that has a dialogue.
@Test func variantDialoguesBelongToExistingTest() throws {
    let ids = Set(Dialogue.all.map(\.id))
    for id in ids where id.split(separator: "/").count == 5 && id.contains("-C/") {
        #expect(ids.contains(id.split(separator: "/").prefix(4).joined(separator: "/")), "\(id)")
    }
}
