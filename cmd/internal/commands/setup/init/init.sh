if [ -z "@UNLESS@" ] && [ -x @PROXY@ ]; then
s=$(exec @PROXY@ --agent --status-fd 3 -- "${SHELL:-/bin/sh}"@LOGIN@ 3>&1 >&2); r=$?;
case $s in [0-9]*) exit $s;; esac;
stty sane; echo; echo "gateway init:" @PROXY@ "ended with status $r before the shell did: this terminal is not shared" >&2;
fi; exec "${SHELL:-/bin/sh}"@LOGIN@
