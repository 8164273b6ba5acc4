import Testing

/// What is printed when a command pairs without an option to do so.
struct PairingNoteTests {
    @Test("a read that pairs prints one note", .timeLimit(.minutes(10)))
    func pairingReadPrintsOneNote() async throws {
        let shell = try Shell()
        try shell.write(
            """
            name: Lock
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: 2a06, properties: [read], permissions: {read: encrypted}, value: {u8: 7}}
            """, to: "lock.yaml")
        let (status, output) = try await shell.run(
            """
            set -e
            trap 'kill $server 2>/dev/null || :' EXIT
            mkfifo log
            bletool serve lock.yaml --adapter virtual:lock --state-dir lock >log 2>&1 &
            server=$!
            exec 3<log; read -r line <&3; cat <&3 >reported &
            for turn in 1 2; do
                bletool gatt name:Lock read 2a06 --adapter virtual:phone --timeout 120s 2>>notes
            done
            sed 's/[0-9A-F][0-9A-F]:[0-9A-F:]*/DEVICE/' notes
            """)
        #expect(status == 0, "\(output)")
        #expect(
            output == """
                7
                7
                bletool: pairing with DEVICE; bletool bonds list shows what is kept

                """)
    }

    @Test(
        "a tree with values is complete and states for each value why it is unreadable",
        .timeLimit(.minutes(10)))
    func treeStatesWhyValuesAreUnreadable() async throws {
        let shell = try Shell()
        try shell.write(
            """
            name: Lock
            standardServices: false
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: aa01, properties: [read], value: {u8: 1}}
                  - {uuid: aa02, properties: [read], permissions: {read: authenticated}, value: {u8: 2}}
                  - {uuid: aa03, properties: [read], permissions: {read: encrypted}, value: {u8: 3}}
                  - {uuid: aa04, properties: [read], permissions: {read: authenticated}, value: {u8: 4}}
                  - {uuid: aa05, properties: [read], value: {u8: 5}}
            """, to: "lock.yaml")
        let (status, output) = try await shell.run(
            """
            set -e
            trap 'kill $server 2>/dev/null || :' EXIT
            mkfifo log
            bletool serve lock.yaml --adapter virtual:lock --passkey 123456 --state-dir lock >log 2>&1 &
            server=$!
            exec 3<log; read -r line <&3; cat <&3 >reported &
            for turn in 1 2; do
                bletool gatt name:Lock tree --values --adapter virtual:phone --timeout 120s 2>>notes >tree
                grep -o 'aa0[1-5].*' tree | sed 's/ *0x[0-9a-f]*  \\[read\\]//'
            done
            """)
        #expect(status == 0, "\(output)")
        let refused = "(Insufficient Authentication (0x05))"
        let impossible = "(cannot pair: this side has no input or output that this security level requires)"
        #expect(
            output == """
                aa01 = 01
                aa02 \(refused)
                aa03 = 03
                aa04 \(impossible)
                aa05 = 05
                aa01 = 01
                aa02 \(impossible)
                aa03 = 03
                aa04 \(refused)
                aa05 = 05

                """)
    }
}
