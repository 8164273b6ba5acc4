import ArgumentParser

/// The scripts that complete command lines of bletool in bash, zsh and fish. The parser makes them, and knows verbs of
/// `gatt` before the device only; a line with the device first is put in that order before they look at it.
struct CompletionScript {
    /// The script that the argument parser generates.
    let generated: String

    /// The generated script with the additions.
    var text: String {
        var text = generated
        for (anchor, more) in [Self.bash, Self.zsh, Self.fish] {
            guard let range = text.firstRange(of: anchor) else { continue }
            text.replaceSubrange(range, with: anchor + more)
            break
        }
        return text
    }

    private static let verbs = GATTCommand.configuration.subcommands.compactMap {
        $0.configuration.commandName
    }

    /// bash cuts an address at its colons, which would be many arguments.
    private static var bash: (String, String) {
        (
            #"local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")"#,
            #"""


                if [[ "${unparsed_words[0]}" = gatt ]]; then
                    local -i verb_index
                    for ((verb_index = 2; verb_index < ${#unparsed_words[@]} - 1; verb_index++)); do
                        [[ "${unparsed_words[verb_index - 1]}" = : ]] && continue
                        local verb="${unparsed_words[verb_index]}"
                        case "${verb}" in
                        \#(verbs.joined(separator: "|"))|-i)
                            unparsed_words=(gatt "${verb/#-i/shell}" device "${unparsed_words[@]:verb_index + 1}")
                            break
                            ;;
                        esac
                    done
                fi
            """#
        )
    }

    private static var zsh: (String, String) {
        (
            "\n_bletool_gatt() {\n",
            #"""
                if [[ "${CURRENT}" -gt 2 ]]; then
                    local -i verb_index="${words[(i)(\#(verbs.joined(separator: "|"))|-i)]}"
                    if [[ "${verb_index}" -ge "${CURRENT}" ]]; then
                        words=(gatt "${(@)words[CURRENT,-1]}")
                        CURRENT=2
                    elif [[ "${verb_index}" -gt 2 ]]; then
                        words=(gatt "${words[verb_index]/#-i/shell}" device "${(@)words[verb_index + 1,-1]}")
                        CURRENT="$((CURRENT - verb_index + 3))"
                    fi
                fi

            """#
        )
    }

    private static var fish: (String, String) {
        (
            "set -l unparsed_tokens (__bletool_tokens -pc)\n",
            #"""
                if test (count $unparsed_tokens) -gt 2 -a "$unparsed_tokens[2]" = gatt
                    set -l words bletool gatt
                    for index in (seq 3 (count $unparsed_tokens))
                        if contains -- $unparsed_tokens[$index] \#(verbs.joined(separator: " ")) -i
                            set -a words (string replace -r '^-i$' shell -- $unparsed_tokens[$index])
                            test $index -gt 3; and set -a words device
                            test $index -lt (count $unparsed_tokens); and set -a words $unparsed_tokens[(math $index + 1)..]
                            break
                        end
                    end
                    set unparsed_tokens $words
                end

            """#
        )
    }
}
