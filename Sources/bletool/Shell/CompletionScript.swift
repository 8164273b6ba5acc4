import ArgumentParser

/// The scripts that complete command lines of bletool in bash, zsh and fish. The parser generates them, but
/// they know verbs of `gatt` only before the device, and no options before a command. The additions put a
/// line that begins with the device or with options into the parser's order first.
struct CompletionScript {
    /// The script that the argument parser generates.
    let generated: String

    /// The generated script with the additions.
    var text: String {
        var text = generated
        for patches in [[Self.bash], [Self.zsh, Self.zshGATT], [Self.fish]] {
            guard patches.allSatisfy({ text.contains($0.0) }) else { continue }
            for (anchor, more) in patches {
                if let range = text.firstRange(of: anchor) {
                    text.insert(contentsOf: more, at: range.upperBound)
                }
            }
            break
        }
        return text
    }

    private static let verbs = GATTCommand.configuration.subcommands.compactMap {
        $0.configuration.commandName
    }

    private static let flags = GlobalOptions.flags.sorted().joined(separator: "|")
    private static let valued = GlobalOptions.valued.sorted().joined(separator: "|")

    /// The addition for bash, which splits an address at its colons, and `--option=value` at the sign.
    /// Options before the command are left out. If the cursor is in the value of one, it is completed as an
    /// option of `scan`, which has all of them.
    private static var bash: (String, String) {
        (
            #"local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")"#,
            #"""


                while [[ "${#unparsed_words[@]}" -gt 1 ]]; do
                    local -i value_end=1
                    case "${unparsed_words[0]}" in
                    \#(flags))
                        ;;
                    \#(valued))
                        [[ "${unparsed_words[1]}" = = ]] && value_end=2
                        while [[ "${unparsed_words[value_end + 1]}" = [:=]* ]]; do
                            value_end=value_end+2
                        done
                        value_end=value_end+1
                        ;;
                    *)
                        break
                        ;;
                    esac
                    if [[ "${value_end}" -ge "${#unparsed_words[@]}" ]]; then
                        unparsed_words=(scan "${unparsed_words[@]}")
                        break
                    fi
                    unparsed_words=("${unparsed_words[@]:value_end}")
                done

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

    /// The addition for zsh. It leaves out the options before the command, with their values.
    private static var zsh: (String, String) {
        (
            #"    local -ir current_word_index="$((CURRENT - 1))"\#n"#,
            #"""
                while [[ "${CURRENT}" -gt 2 ]]; do
                    case "${words[2]}" in
                    (\#(flags)|(\#(valued))=*)
                        words[2]=()
                        CURRENT="$((CURRENT - 1))"
                        ;;
                    (\#(valued))
                        [[ "${CURRENT}" -gt 3 ]] || break
                        words[2,3]=()
                        CURRENT="$((CURRENT - 2))"
                        ;;
                    (*)
                        break
                        ;;
                    esac
                done

            """#
        )
    }

    private static var zshGATT: (String, String) {
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
                while set -q unparsed_tokens[2]
                    if contains -- $unparsed_tokens[2] \#(GlobalOptions.flags.sorted().joined(separator: " "))
                        or string match -qr -- '^(\#(valued))=' $unparsed_tokens[2]
                        set -e unparsed_tokens[2]
                    else if set -q unparsed_tokens[3]
                        and contains -- $unparsed_tokens[2] \#(GlobalOptions.valued.sorted().joined(separator: " "))
                        set -e unparsed_tokens[2..3]
                    else
                        break
                    end
                end
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
