# Share new terminals with AI agents: they see this one, and type only what you let them. From `gateway init fish`; its file
# ~/.config/fish/conf.d/00-terminalproxy.fish is read before the others: only the shared shell reads those.
function __terminalproxy_share
    set -l proxy @PROXY@
    status is-interactive; and isatty stdin; and isatty stdout; and isatty stderr; or return 0
    for name in @UNLESS@
        test -z "$$name"; or return 0
    end
    contains -- "$TERM" '' dumb linux unknown; and return 0 # on a console others may start a desktop from here
    test -x $proxy; and test -O /dev/stdin; or return 0
    if test -r /proc/$fish_pid/stat # a new terminal, and no shell within another one
        set -l stat (string split ' ' </proc/$fish_pid/stat)
        test "$stat[6]" = $fish_pid; or return 0
        set -l value no
        for arg in (string split0 </proc/$fish_pid/cmdline)[2..-1] # and no command or script
            if test $value = yes
                set value no
                continue
            end
            switch $arg
                case -C --init-command
                    set value yes
                case -i -l -il -li --interactive --login --no-config '--init-command=*'
                case '*'
                    return 0
            end
        end
    end
    set -l login
    status is-login; and set login -l
    # fish itself cannot set SHLVL
    set -l ended (env TERMINALPROXY_INIT=started SHLVL=(math "0$SHLVL - 1") $proxy --agent --status-fd 3 -- (status fish-path) $login 3>&1 >&2)
    set -l result $status
    string match -qr '^[0-9]+$' -- "$ended"; and exec /bin/sh -c "exit $ended"
    stty sane 2>/dev/null # it may be as a killed proxy left it
    printf '\n%s\n' "gateway init: $proxy ended with status $result before the shell did: this terminal is not shared" >&2
end
__terminalproxy_share
functions -e __terminalproxy_share
test "$TERMINALPROXY_INIT" != started; or set -e TERMINALPROXY_INIT

