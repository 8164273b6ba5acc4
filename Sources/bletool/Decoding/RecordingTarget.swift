import Glibc

/// A new recording that `decode --write` makes.
final class RecordingTarget: Sendable {
    /// Its path; `-` is stdout.
    let path: String
    private let descriptor: CInt

    /// Makes the file; an old one stays as it is until there is something to replace it.
    init(_ path: String) throws(Failure) {
        if path == "-" { try LineWriter.output.refuseOctets("--write -") }
        self.path = path
        descriptor = path == "-" ? dup(STDOUT_FILENO) : RecordingFile.open(path, keepsContent: true)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
    }

    deinit { close(descriptor) }

    /// Empties an old file; a pipe has nothing old, and stdout may go on behind what is there.
    func begin() throws(Failure) {
        guard path == "-" || ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
            throw Self.failure(path, errno)
        }
    }

    /// Writes octets; false when the output has no reader any more.
    func write(_ octets: [UInt8]) throws(Failure) -> Bool {
        guard let problem = File.write(octets, to: descriptor) else { return true }
        if problem == EPIPE, path == "-" { return false }
        throw Self.failure(path, problem)
    }

    private static func failure(_ path: String, _ problem: CInt) -> Failure {
        let kind: Failure.Kind = problem == EACCES ? .permission : .input
        return Failure(kind, "--write \(path)", String(cString: strerror(problem)))
    }
}
