# Shell marks for fish 3: they tell a terminal, and agents through proxy, where each command and its output begin and end, how it
# ended (OSC 133), and in which directory (OSC 7). Fish 4 has them built in.
if status is-interactive; and isatty stdout; and test "$TERM" != dumb; and not set -q __marks_id; and string match -qr '^[0-3]\.' -- $version
    set -g __marks_id $fish_pid.(random)(random) # what programs print cannot know it

    function __marks_begin --on-event fish_preexec
        set -l line ';cmdline_url='(string escape --style=url -- "$argv")
        test (string length -- $line) -le 7000; or set line '' # terminals ignore longer sequences
        printf '\e]133;C;aid=%s%s\a' $__marks_id $line
    end

    function __marks_done --on-event fish_postexec
        printf '\e]133;D;%s;aid=%s\a' $status $__marks_id
    end

    function __marks_prompt --on-event fish_prompt
        if not functions -q __marks_fish_prompt; and functions -q fish_prompt # the start file has been read
            functions -c fish_prompt __marks_fish_prompt
            function fish_prompt
                __marks_fish_prompt
                printf '\e]133;B;aid=%s\a' $__marks_id
            end
        end
        printf '\e]7;file://%s%s\a\e]133;A;aid=%s\a' $hostname (string escape --style=url -- $PWD) $__marks_id
    end
end
