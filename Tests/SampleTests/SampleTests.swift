import Testing

/// The samples in documentation comments are those that this target compiles.
struct SampleTests {
    @Test func everyDocumentationCodeBlockIsCompiled() throws {
        let samples = try Passage.compiled()
        let blocks = try Passage.documented()
        // Fewer are found when the parser does not recognize them.
        #expect(blocks.count > 60)
        for block in blocks where !samples.contains(where: { block.shows($0) }) {
            Issue.record("\(block.place): Tests/SampleTests has no sample that is equal to this code block")
        }
    }

    @Test func everySampleIsInTheDocumentation() throws {
        let blocks = try Passage.documented()
        for sample in try Passage.compiled() where !blocks.contains(where: { $0.shows(sample) }) {
            Issue.record("\(sample.place): \(sample.file) has no code block that is equal to this sample")
        }
    }

    @Test(arguments: [
        (["let x = f()"], true), (["let x = g()"], false), (["let x = …"], true), (["let y = …"], false),
        (["…"], true), (["…", "let x = f()"], true), (["let x = f()", "…"], true), ([], false),
        (["let x = f()", "f()"], false), (["f()", "…"], false),
    ])
    func ellipsisMatchesOmittedCode(_ shown: [Substring], _ isShown: Bool) {
        let block = Passage(file: "A.swift", place: "A.swift:1", shown)
        let sample = Passage(file: "A.swift", place: "B.swift:1", ["    let x = f()"])
        #expect(block.shows(sample) == isShown)
    }
}
