import Logging

extension Logger {
    /// Warns that the kernel has dropped received packets of `sender`, a noun phrase.
    func warnOfLostPackets(_ count: Int, of sender: String) {
        let packets = count == 1 ? "1 packet of \(sender) was" : "\(count) packets of \(sender) were"
        warning("\(packets) lost, because packets came faster than they were read")
    }
}
