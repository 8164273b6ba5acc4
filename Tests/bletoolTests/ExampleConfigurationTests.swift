import ArgumentParser
import BLECore
import Foundation
import Testing

@testable import bletool

/// The configuration that `serve --example` prints.
struct ExampleConfigurationTests {
    private let context = ConfigurationContext(
        names: Names.uuid, contents: { _, _ in throw BadInput("no file") }, isProgram: { _ in true })

    private func problem(_ text: String) -> ConfigurationError? {
        do throws(ConfigurationError) {
            _ = try ServeConfiguration(Array(text.utf8), context)
            return nil
        } catch {
            return error
        }
    }

    @Test("serve loads the example without warnings") func exampleLoadsWithoutWarnings() throws {
        let configuration = try ServeConfiguration(Array(ServeConfiguration.example.utf8), context)
        #expect(configuration.warnings.isEmpty)
        #expect(configuration.beacons.count == 3 && configuration.services.count == 2)
    }

    /// Each argument has an unknown key in a mapping. The hint of the error lists the known keys.
    @Test(
        "the example contains every key",
        arguments: [
            "x: 1", "security: {x: 1}", "connection: {x: 1}", "advertise: {x: 1}", "beacons: [{x: 1}]",
            "beacons: [{periodic: {x: 1}}]", "services: [{x: 1}]",
            "services: [{uuid: 1809, includes: [{x: 1}]}]",
            "services: [{uuid: 1809, characteristics: [{x: 1}]}]",
            "services: [{uuid: 1809, characteristics: [{uuid: 2a1c, properties: [read], permissions: {x: 1}}]}]",
            "services: [{uuid: 1809, characteristics: [{uuid: 2a1c, properties: [read], length: {x: 1}}]}]",
            "services: [{uuid: 1809, characteristics: [{uuid: 2a1c, properties: [notify], notify: {x: 1}}]}]",
            "services: [{uuid: 1809, characteristics: [{uuid: 2a1c, properties: [write], write: {x: 1}}]}]",
            "services: [{uuid: 1809, characteristics: [{uuid: 2a1c, properties: [], descriptors: [{x: 1}]}]}]",
        ])
    func exampleContainsEveryKey(text: String) throws {
        let hint = try #require(problem(text.contains("services:") ? text : text + "\nservices: []")?.hint)
        let keys = hint.matches(of: /[A-Za-z]+/).map { String($0.output) }.filter {
            !["its", "keys", "are", "and"].contains($0)
        }
        #expect(keys.count > 1)
        // Keys that are incompatible with others are in comments of the example.
        let example = ServeConfiguration.example
        for key in keys where key != "authorize" {
            let isThere = ["\n\(key):", " \(key):", "{\(key):"].contains { example.contains($0) }
            #expect(isThere, "\(key)")
        }
    }

    @Test("docs/serve.md contains the example") func documentContainsExample() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/serve.md")
        let document = try String(contentsOf: url, encoding: .utf8)
        #expect(document.contains("```yaml\n\(ServeConfiguration.example)```\n"))
    }

    /// The second configuration of the document has the same effect as a file with services only.
    @Test("docs/serve.md states the defaults") func documentStatesDefaults() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/serve.md")
        let document = try String(contentsOf: url, encoding: .utf8)
        let blocks = document.components(separatedBy: "```yaml\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        let minimal = "services: [{uuid: 180f, characteristics: [{uuid: 2a19, properties: [read, write]}]}]"
        var explicit = try ServeConfiguration(Array(blocks[1].utf8), context)
        var left = try ServeConfiguration(Array(minimal.utf8), context)
        let requests = try [explicit, left].map { try $0.advertising.request($0.advertising.plan()) }
        #expect(requests[0] == requests[1])
        // The document gives the advertising interval. The other file leaves it to the library.
        explicit.advertising.interval = nil
        left.advertising.interval = nil
        #expect(explicit == left)
        #expect(document.contains("`--max-links` is \(try ServeCommand.parse(["config.yaml"]).maxLinks)."))
    }
}
