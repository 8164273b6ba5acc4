import ArgumentParser
import BLE

struct DoctorCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Show what this process may do with Bluetooth, what is missing, and how to fix it.",
        discussion: """
            Changes nothing and needs no permission. Exit status 0: a kernel adapter can be used; 3: no \
            kernel adapter can be used; 4: a permission is missing. Commands that use a radio work with \
            --adapter virtual in any case.
            """)

    @OptionGroup var global: PlainOptions

    var output: OutputOptions { global.output }
    var usesKernelAdapters: Bool { true }

    func perform(_ console: Console) async throws(Failure) {
        try global.refuse(for: "doctor")
        let report = DoctorReport(await Diagnosis.make())
        console.show(report)
        guard var failure = report.failure else { return }
        // The text report already shows the fix, just above the failure.
        if !console.isJSON { failure.hint = nil }
        throw failure
    }
}
