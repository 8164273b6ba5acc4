import ATT
import BLE
import BLECore
import HCI
import HCISocket

extension Failure {
    /// What a failed operation of the library is for the one who typed the command.
    init(_ error: BLEError, while doing: String) {
        switch error {
        case .adapter(let problem): self.init(problem, while: doing)
        case .permission(let capability, let operation):
            self.init(
                .permission, operation, "needs \(capability)",
                hint: "sudo setcap cap_net_raw,cap_net_admin+eip $(command -v bletool), or run as root")
        case .att(let response):
            let isSecurity = [
                .insufficientAuthentication, .insufficientEncryption, .encryptionKeySizeTooShort,
            ]
            .contains(response.code)
            self.init(
                isSecurity ? .security : .att, doing, "\(response)",
                hint: isSecurity ? "the attribute wants an encrypted link; see --security" : nil,
                number: Int(response.code.rawValue))
        case .databaseChanged: self.init(.att, doing, "\(error)", hint: "run it again", number: 0x12)
        case .security(let code): self.init(.security, doing, "\(code)", number: Int(code.rawValue))
        case .disconnected(let reason), .connectFailed(let reason):
            self.init(.linkLost, doing, "\(error)", number: reason.number)
        case .timedOut(let what, let limit):
            self.init(.timeout, doing, "\(what) took longer than \(limit.text)")
        case .notFound(let what): self.init(.notFound, doing, what)
        case .hci(let status, _): self.init(.adapter, doing, "\(error)", number: Int(status.rawValue))
        case .controllerSilent, .port, .managementRefused: self.init(.adapter, doing, "\(error)")
        case .limit, .invalidRequest, .database, .advertising: self.init(.input, doing, "\(error)")
        case .overflow, .peer: self.init(.linkLost, doing, "\(error)")
        case .cancelled: self.init(.timeout, doing, "cancelled")
        }
    }

    private init(_ problem: AdapterProblem, while doing: String) {
        let virtual = "without a radio, --adapter virtual works on an embedded controller"
        let hint: String? =
            switch problem {
            case .missing, .noBluetooth: virtual
            case .blocked: "rfkill unblock bluetooth"
            case .poweredOff: "bluetoothctl power on, or run with CAP_NET_ADMIN"
            case .inUse, .unsupported, .removed, .closed: nil
            }
        self.init(.adapter, doing, "\(problem)", hint: hint)
    }
}

extension DisconnectReason {
    /// The number that came with it.
    var number: Int? {
        switch self {
        case .status(let status): Int(status.rawValue)
        case .errno(let number): Int(number)
        case .unknown: nil
        }
    }
}
