# Completion of proxy for fish. What follows PROGRAM is completed as PROGRAM's own.

# The words from PROGRAM on that stand before the one that is typed, one a line; without any it fails.
function __proxy_program
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --
                set -e words[1]
                break
            case @VALUED@
                set -e words[1]
            case '-*'
            case '*'
                break
        end
        set -e words[1]
    end
    string join \n -- $words
end

# What fish offers for these words, were they the whole command line. A flag is no command line.
function __proxy_complete
    set -l words (__proxy_program) (commandline -ct)
    string match -q -- '-*' $words[1]; or complete -C (string join " " -- $words)
end

complete -c proxy -x -a '(__proxy_complete)'
@FLAGS@
