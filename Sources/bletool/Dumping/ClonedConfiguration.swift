import ATT
import BLECore
import GATTClient
import GATTServer

/// A configuration with which `serve` imitates a device as closely as possible.
struct ClonedConfiguration: Sendable {
    /// How closely the copy matches the device.
    enum Fidelity: Hashable, Sendable {
        /// The same attributes at the same handles; the GAP and GATT services are those that `serve` adds.
        case standard
        /// The same attributes at the same handles, those of the GAP and GATT services with stored values.
        case exact
        /// The same attributes at the same handles, including contradictions, which need `strict: false`.
        case contradictory(hasStandardServices: Bool)
        /// The same handles, but without what `serve` rejects. Comments name what is missing.
        case partial
        /// The same services at the handles that `serve` assigns, for this reason.
        case moved(String)
    }

    let node: CommentedNode
    /// What is wrong with the device's own database, for comments.
    private let faults: [DatabaseFault]
    /// How closely the configuration matches the image.
    let fidelity: Fidelity

    /// Creates the closest configuration that `serve` accepts. Throws the reason if it accepts none.
    init(_ image: DeviceImage) throws(ConfigurationError) {
        faults = image.database.faults
        let wanted: [Fidelity] = [
            .standard, .exact, .contradictory(hasStandardServices: true),
            .contradictory(hasStandardServices: false),
        ]
        if let (node, fidelity) = image.firstAccepted(of: wanted) {
            (self.node, self.fidelity) = (node, fidelity)
        } else {
            let node = image.node(.partial)
            do throws(ConfigurationError) {
                _ = try Self.layout(node)
                (self.node, fidelity) = (node, .partial)
            } catch {
                let moved = Fidelity.moved(error.reason)
                self.node = image.node(moved)
                fidelity = moved
                _ = try Self.layout(self.node)
            }
        }
    }

    /// The lines of the configuration file.
    var yaml: [String] {
        [
            "# A device as `bletool gatt` found it, for `bletool serve`. What security a write requires, and what it",
            "# does, is not known.",
        ] + faults.map { "# Wrong in the device: \("\($0)".printable)" } + node.yaml
    }

    /// Returns the attributes that `serve` would have with this configuration.
    fileprivate static func layout(_ node: CommentedNode) throws(ConfigurationError) -> [LayoutRow] {
        let context = ConfigurationContext(
            names: Names.uuid, contents: { _, _ in throw BadInput("there is none") },
            isProgram: { _ in false })
        let text = node.yaml.joined(separator: "\n")
        let configuration = try ServeConfiguration(Array(text.utf8), context)
        let services = configuration.services.map { service in
            GATTService(service, among: configuration.services) { _ in (nil, nil) }
        }
        do {
            let database = try AttributeDatabase(services, generic: configuration.generic)
            return database.attributes.map { attribute in
                guard case .value(let properties) = attribute.kind else {
                    return LayoutRow(
                        attribute.handle, attribute.type, end: attribute.isService ? attribute.groupEnd : nil)
                }
                return LayoutRow(attribute.handle, attribute.type, properties)
            }
        } catch {
            throw ConfigurationError(nil, "\(error)")
        }
    }
}

extension DeviceImage {
    /// Returns the first configuration that `serve` accepts and that has exactly the device's attributes.
    fileprivate func firstAccepted(
        of wanted: [ClonedConfiguration.Fidelity]
    ) -> (CommentedNode, ClonedConfiguration.Fidelity)? {
        for fidelity in wanted where mayBe(fidelity) {
            let node = node(fidelity)
            if (try? ClonedConfiguration.layout(node)) == layout { return (node, fidelity) }
        }
        return nil
    }

    private func mayBe(_ fidelity: ClonedConfiguration.Fidelity) -> Bool {
        switch fidelity {
        case .standard: name != nil && !isUnreadable
        case .exact: !isUnreadable
        case .contradictory(let hasStandardServices): name != nil || !hasStandardServices
        case .partial, .moved: true
        }
    }

    /// Whether a value has the property read, but the server never permits reading it.
    private var isUnreadable: Bool {
        database.services.flatMap(\.characteristics).contains {
            $0.properties.contains(.read) && shown[$0.valueHandle]?.isUnreadable == true
        }
    }
}
