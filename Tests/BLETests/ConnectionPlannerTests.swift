import BLECore
import HCI
import Testing

@testable import BLE

/// What the initiator is told, and when.
struct ConnectionPlannerTests {
    private let one = DeviceAddress(0xc000_0000_0001, type: .random)
    private let two = DeviceAddress(0xc000_0000_0002, type: .random)
    private let three = DeviceAddress(0x0000_0000_0003, type: .public)

    @Test func oneDeviceIsNamed() {
        var planner = ConnectionPlanner(capacity: 8)
        #expect(planner.isIdle)
        planner.want(one)
        planner.want(one)
        #expect(told(&planner) == .create(.device(one)))
        #expect(told(&planner) == nil)
        planner.started()
        #expect(told(&planner) == nil)
        #expect(planner.deadline == nil)
        #expect(connected(&planner, to: one) == one)
        planner.forget(one)
        #expect(told(&planner) == nil)
        #expect(planner.isIdle)
    }

    @Test func aResolvedAddressIsTheDeviceThatWasNamed() {
        var planner = started(one)
        #expect(connected(&planner, to: three) == one)
    }

    @Test func aSecondDeviceNeedsACancelAndTheList() {
        var planner = started(one)
        planner.want(two)
        #expect(told(&planner) == .cancel)
        // Nothing more until the controller has told.
        #expect(told(&planner) == nil)
        #expect(ended(&planner, .unknownConnectionIdentifier) == [])
        #expect(told(&planner) == .create(.acceptList([one, two])))
        planner.started()
        #expect(connected(&planner, to: two) == two)
        planner.forget(two)
        #expect(told(&planner) == .create(.device(one)))
    }

    @Test func aPauseSwitchesTheInitiatorOffAndThenItGoesOn() {
        var planner = started(one)
        planner.isHeld = true
        #expect(told(&planner) == .cancel)
        #expect(!planner.isQuiet)
        #expect(ended(&planner, .unknownConnectionIdentifier) == [])
        #expect(planner.isQuiet && !planner.isIdle)
        planner.want(two)
        #expect(told(&planner) == nil)
        planner.isHeld = false
        #expect(told(&planner) == .create(.acceptList([one, two])))
    }

    @Test func theLinkMayComeInsteadOfTheEnd() {
        var planner = started(one)
        planner.want(two)
        #expect(told(&planner) == .cancel)
        #expect(connected(&planner, to: one) == one)
        planner.forget(one)
        #expect(told(&planner) == .create(.device(two)))
    }

    @Test func aDeviceThatNobodyWantsIsNotListenedFor() {
        var planner = ConnectionPlanner(capacity: 8)
        for device in [one, two, three] { planner.want(device) }
        #expect(told(&planner) == .create(.acceptList([one, two, three])))
        planner.started()
        planner.forget(three)
        #expect(told(&planner) == .cancel)
        #expect(ended(&planner, .unknownConnectionIdentifier) == [])
        #expect(told(&planner) == .create(.acceptList([one, two])))
    }

    @Test func aControllerThatDoesNotTellIsWaitedForTwoSeconds() {
        var planner = started(one)
        planner.forget(one)
        #expect(told(&planner, at: 10) == .cancel)
        #expect(planner.deadline == .zero + .seconds(12))
        #expect(!expire(&planner, at: 11))
        #expect(!planner.isIdle)
        #expect(expire(&planner, at: 12))
        #expect(planner.isIdle)
    }

    @Test func moreThanTheListTakesHaveTurns() {
        var planner = ConnectionPlanner(capacity: 2)
        for device in [one, two, three] { planner.want(device) }
        #expect(told(&planner) == .create(.acceptList([one, two])))
        planner.started()
        #expect(planner.deadline == .zero + .seconds(5))
        #expect(!expire(&planner, at: 5))
        #expect(told(&planner, at: 5) == .cancel)
        #expect(ended(&planner, .unknownConnectionIdentifier) == [])
        #expect(told(&planner, at: 5) == .create(.acceptList([three, one])))
        planner.started()
        #expect(planner.deadline == .zero + .seconds(10))
        // With one less all have room.
        #expect(connected(&planner, to: three) == three)
        planner.forget(three)
        #expect(told(&planner, at: 6) == .create(.acceptList([one, two])))
        #expect(planner.deadline == nil)
    }

    @Test(arguments: [0, 1]) func withoutAListDevicesHaveTurnsOneByOne(_ capacity: Int) {
        var planner = ConnectionPlanner(capacity: capacity)
        planner.want(one)
        planner.want(two)
        var heard: [ConnectionPlanner.Step?] = []
        for turn in 0..<3 {
            heard.append(told(&planner, at: turn * 5))
            planner.started()
            _ = planner.expire(at: .zero + .seconds(turn * 5 + 5))
            heard.append(told(&planner, at: turn * 5 + 5))
            _ = planner.ended(.unknownConnectionIdentifier)
        }
        #expect(
            heard == [
                .create(.device(one)), .cancel, .create(.device(two)), .cancel, .create(.device(one)),
                .cancel,
            ])
    }

    @Test func aListThatIsRefusedIsNotUsedAgain() {
        var planner = ConnectionPlanner(capacity: 8)
        planner.want(one)
        planner.want(two)
        #expect(told(&planner) == .create(.acceptList([one, two])))
        #expect(refused(&planner) == [])
        #expect(told(&planner) == .create(.device(one)))
        #expect(refused(&planner) == [one])
        #expect(told(&planner) == .create(.device(two)))
        planner.wasReset(capacity: 8)
        planner.want(one)
        #expect(told(&planner) == .create(.acceptList([one, two])))
    }

    @Test func aFailureIsOfAllThatWereListenedFor() {
        var planner = ConnectionPlanner(capacity: 8)
        planner.want(one)
        planner.want(two)
        _ = told(&planner)
        planner.started()
        planner.want(three)
        #expect(ended(&planner, .connectionFailedToBeEstablished) == [one, two])
        #expect(told(&planner) == .create(.device(three)))
        // That the controller has ended it by itself is a failure, too.
        planner.started()
        #expect(ended(&planner, .unknownConnectionIdentifier) == [three])
        #expect(planner.isIdle)
        #expect(ended(&planner, .unknownConnectionIdentifier) == [])
    }

    @Test func outcomesMayComeBeforeTheAnswerToTheCommand() {
        var planner = ConnectionPlanner(capacity: 8)
        planner.want(one)
        _ = told(&planner)
        #expect(connected(&planner, to: one) == one)
        planner.forget(one)
        planner.started()
        #expect(planner.isIdle)
    }

    private func told(_ planner: inout ConnectionPlanner, at seconds: Int = 0) -> ConnectionPlanner.Step? {
        planner.next(at: .zero + .seconds(seconds))
    }

    private func connected(
        _ planner: inout ConnectionPlanner, to device: DeviceAddress
    ) -> DeviceAddress { planner.connected(to: device) }

    private func ended(_ planner: inout ConnectionPlanner, _ status: HCIStatus) -> [DeviceAddress] {
        planner.ended(status)
    }

    private func refused(_ planner: inout ConnectionPlanner) -> [DeviceAddress] { planner.refused() }

    private func expire(_ planner: inout ConnectionPlanner, at seconds: Int) -> Bool {
        planner.expire(at: .zero + .seconds(seconds))
    }

    private func started(_ device: DeviceAddress) -> ConnectionPlanner {
        var planner = ConnectionPlanner(capacity: 8)
        planner.want(device)
        _ = planner.next(at: .zero)
        planner.started()
        return planner
    }
}
