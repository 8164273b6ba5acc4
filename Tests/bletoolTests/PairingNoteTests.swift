import Testing

/// The output of commands that pair without an option to do so.
struct PairingNoteTests {
    @Test(
        "a read that pairs prints one note, and stores a bond if the adapter has a name or a folder",
        .timeLimit(.minutes(10)))
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
            # An adapter without a name has another address in each run: a bond would stay unused.
            bletool gatt name:Lock read 2a06 --adapter virtual --timeout 120s 2>>notes
            bletool bonds list --json | wc -l
            bletool gatt name:Lock read 2a06 --adapter virtual --state-dir own --timeout 120s 2>>notes
            bletool bonds list --json --state-dir own | wc -l
            sed 's/[0-9A-F][0-9A-F]:[0-9A-F:]*/DEVICE/' notes
            """)
        #expect(status == 0, "\(output)")
        #expect(
            output == """
                7
                7
                7
                1
                7
                1
                bletool: pairing with DEVICE; bletool bonds list shows what is kept
                bletool: pairing with DEVICE, for this run only
                bletool: pairing with DEVICE; bletool bonds list --state-dir own shows what is kept

                """)
    }

    /// The server is started again with the same bonds. The second link is encrypted without pairing.
    @Test(
        "the bond of an adapter without a name is kept for the links of one run", .timeLimit(.minutes(10)))
    func bondLastsForRun() async throws {
        let shell = try Shell()
        try shell.write("{name: Lock, services: []}", to: "lock.yaml")
        let (status, output) = try await shell.run(
            """
            set -e
            serve() {
                bletool serve lock.yaml --adapter virtual:lock --state-dir lock >>log 2>&1 &
                server=$!
            }
            serve
            trap 'kill $server 2>/dev/null || :' EXIT
            mkfifo events
            exec 3<>events
            bletool maintain name:Lock --adapter virtual --security medium --exec 'echo $BLETOOL_EVENT >events' \
                >links 2>notes & maintain=$!
            read -r event <&3; echo $event
            kill $server
            { wait $server; } 2>/dev/null || :
            read -r event <&3; echo $event
            serve
            read -r event <&3; echo $event
            kill $maintain
            { wait $maintain; } 2>/dev/null || :
            grep pairing notes | sed 's/[0-9A-F][0-9A-F]:[0-9A-F:]*/DEVICE/'
            """)
        #expect(status == 0, "\(output)")
        #expect(
            output == """
                connected
                disconnected
                connected
                bletool: pairing with DEVICE, for this run only

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
