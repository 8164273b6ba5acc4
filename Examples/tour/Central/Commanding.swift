import BLE
import ExampleSupport

extension TourCentral {
    /// Enqueues all commands before it reads any answer. The answers arrive in the order of the commands.
    func command() async throws {
        try await central.withConnection(to: id) { device in
            let channel = device.commandChannel(
                writing: try await device.characteristic(.tourCommand),
                answers: try await device.characteristic(.tourAnswer))
            let words = ["greet", "slower", "faster"]
            for word in words { try channel.enqueue(Array(word.utf8)) }
            var answers = channel.answers.makeAsyncIterator()
            for word in words {
                let answer = try await answers.next()?.value ?? []
                Program.printLine("\(word): \(String(decoding: answer, as: UTF8.self))")
            }
        }
    }
}
