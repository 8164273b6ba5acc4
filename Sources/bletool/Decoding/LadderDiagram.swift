import BLECore
import HCI
import Recordings

/// A diagram of a session: a vertical line for the host, its controller and each peer, and an arrow for each
/// packet.
struct LadderDiagram {
    /// The maximum number of rows in a readable diagram. Further packets are only counted.
    static let rowLimit = 2000
    /// The maximum number of lines for peers. Further peers share the last line.
    static let peerLimit = 6

    /// The start or the end of an arrow.
    enum Endpoint: Hashable {
        case host
        case controller
        case peer(Int)
    }

    /// An arrow of the diagram, from one endpoint to another.
    struct Row: Hashable {
        var frame: Int
        /// Microseconds since the recording began.
        var time: Int64
        var from: Endpoint
        var to: Endpoint
        var text: String
        var isError: Bool
    }

    private(set) var rows: [Row] = []
    /// The number of packets that have no arrow because there are too many.
    private(set) var leftOut = 0
    private(set) var peers: [String] = []

    /// Adds a packet. Packets that are not sent in a direction, such as notes of a monitor, have no arrow.
    /// Neither have parts of frames, and the controller's reports about its buffers.
    mutating func add(_ packet: DecodedPacket, since start: RecordingTime) {
        guard let direction = packet.direction, !packet.isFragment, !packet.isCounting else { return }
        guard rows.count < Self.rowLimit else {
            leftOut += 1
            return
        }
        let other: Endpoint
        if packet.inner.isEmpty {
            other = .controller
        } else {
            let connection = packet.connection.map { "connection 0x\($0.rawValue.hex)" }
            other = .peer(index(of: packet.peer?.text ?? connection ?? "peer"))
        }
        let isSent = direction == .hostToController
        rows.append(
            Row(
                frame: packet.frame, time: packet.time.microseconds &- start.microseconds,
                from: isSent ? .host : other, to: isSent ? other : .host, text: Self.text(packet),
                isError: packet.isError))
    }

    private mutating func index(of peer: String) -> Int {
        if let index = peers.firstIndex(of: peer) { return index }
        guard peers.count < Self.peerLimit else {
            peers[Self.peerLimit - 1] = "other peers"
            return Self.peerLimit - 1
        }
        peers.append(peer)
        return peers.count - 1
    }

    private static func text(_ packet: DecodedPacket) -> String {
        var text = packet.top.name
        if let label = packet.attribute?.label { text += " · \(label)" }
        if packet.inner.isEmpty, let request = packet.request { text += " · \(request.name)" }
        if let failure = packet.failure {
            text = failure
        } else if case .text(let value)? = packet.top.fields["value"] {
            text += " = " + (value.utf8.count > 24 ? "\(value.prefix(24))…" : value)
        }
        if let problem = packet.layers.compactMap(\.problem).first { text += " · \(problem)" }
        return text
    }
}

extension DecodedPacket {
    /// Whether the packet only begins or continues a frame.
    var isFragment: Bool { inner.isEmpty && outer.bytes.first == HCIPacketType.acl.rawValue }

    /// Whether the packet only reports that the controller has room again.
    fileprivate var isCounting: Bool {
        if case .numberOfCompletedPackets? = outer.event { true } else { false }
    }
}

extension LadderDiagram {
    private static let top = 56
    private static let step = 22
    private static let left = 110
    private static let gap = 330

    /// Draws the diagram as an SVG image.
    func svg(title: String) -> String {
        let columns = 2 + peers.count
        let height = Self.top + Self.step * (rows.count + 1)
        let width = Self.left + Self.gap * (columns - 1) + 200
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
            viewBox="0 0 \(width) \(height)" font-family="sans-serif" font-size="11">
            <title>\(title.xml)</title>
            <defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" \
            orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>
            <rect width="100%" height="100%" fill="white"/>

            """
        for (index, name) in (["host", "controller"] + peers).enumerated() {
            let x = Self.left + Self.gap * index
            text += """
                <text x="\(x)" y="24" text-anchor="middle" font-weight="bold">\(name.xml)</text>
                <path d="M\(x) 34V\(height - 10)" stroke="#bbb"/>

                """
        }
        for (index, row) in rows.enumerated() { append(row, at: Self.top + Self.step * index, to: &text) }
        return text + "</svg>\n"
    }

    private func append(_ row: Row, at y: Int, to text: inout String) {
        let (from, to) = (x(row.from), x(row.to))
        let color = row.isError ? "#c00" : row.from == .host ? "#06c" : "#083"
        let seconds = PacketText.seconds(row.time)
        text += """
            <text x="8" y="\(y + 4)" fill="#777">\(seconds)</text>
            <path d="M\(from) \(y)H\(to)" stroke="\(color)" marker-end="url(#a)"/>
            <text x="\(min(from, to) + 8)" y="\(y - 4)" fill="\(color)">\(row.text.printable.xml)\
            <title>packet \(row.frame)</title></text>

            """
    }

    private func x(_ endpoint: Endpoint) -> Int {
        let column =
            switch endpoint {
            case .host: 0
            case .controller: 1
            case .peer(let index): 2 + index
            }
        return Self.left + Self.gap * column
    }
}

extension String {
    /// The text with the special characters of XML escaped, and without the control characters that XML does not
    /// allow or that would reach a terminal.
    fileprivate var xml: String {
        var text = ""
        for character in unicodeScalars {
            switch character {
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "&": text += "&amp;"
            case "\"": text += "&quot;"
            case "\t", "\n": text.unicodeScalars.append(character)
            case _ where character.properties.generalCategory == .control: text += "\u{fffd}"
            case "\u{fffe}", "\u{ffff}": text += "\u{fffd}"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
