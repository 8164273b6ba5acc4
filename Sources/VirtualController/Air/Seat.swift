import BLECore

extension VirtualAir {
    /// A controller's place on the air.
    struct Seat: Sendable {
        var controller: VirtualController
        var processID: UInt32?
        var name: [UInt8]?
        var position: AirPosition?
    }

    /// The place of a controller, if it is there.
    func index(of id: ControllerID) -> Int? {
        let index = seats.partition(of: id) { $0.controller.id }
        return index < seats.count && seats[index].controller.id == id ? index : nil
    }

    /// Calls `body` with a controller, and notes what it needs then.
    mutating func change(_ index: Int, _ body: (inout VirtualController, Instant) -> Void) {
        body(&seats[index].controller, now)
        note(index)
    }

    /// Notes what a controller needs after a change.
    mutating func note(_ index: Int) {
        let (id, wants) = (seats[index].controller.id, seats[index].controller.wants)
        agenda.note(id, wants)
    }
}

extension VirtualController {
    /// What a controller needs of the air.
    struct Wants {
        /// When the controller is to be called.
        var deadline: Instant?
        /// To send, to pass packets to its host, and to receive what is sent to all.
        var toSend, toReport, toListen: Bool
    }

    fileprivate var wants: Wants {
        Wants(
            deadline: deadline, toSend: !toAir.isEmpty,
            toReport: !toHost.isEmpty || settings.hostFlow.isReady,
            toListen: listens)
    }
}
