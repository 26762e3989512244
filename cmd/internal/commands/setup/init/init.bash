# Share new terminals with AI agents: they see this one, and type only what you let them. From `gateway init bash`; put it before
# everything else in ~/.bashrc: only the shared shell reads most of the rest.
__terminalproxy_share() {
	local proxy=@PROXY@ name=${0#-} session login= ended result=0
	[[ $- == *i* && -z ${BASH_EXECUTION_STRING-} && -t 0 && -t 1 && -t 2 ]] || return 0
	[[ ${name##*/} == "${BASH##*/}" ]] || return 0 # a script
	[[ -z @UNLESS@ ]] || return 0
	case ${TERM:-dumb} in dumb | linux | unknown) return 0 ;; esac # on a console others may start a desktop from here
	[[ -x $proxy && -O /dev/stdin ]] || return 0
	if [[ -r /proc/$$/stat ]]; then # a new terminal, and no shell within another one
		read -r _ _ _ _ _ session _ </proc/$$/stat
		[[ $session == "$$" ]] || return 0
	fi
	! shopt -q login_shell || login=-l
	ended=$(TERMINALPROXY_INIT=started && export TERMINALPROXY_INIT && exec "$proxy" --agent --status-fd 3 -- "$BASH" $login 3>&1 >&2) ||
		result=$?
	case $ended in
	[0-9]*) exec /bin/sh -c "exit $ended" ;; # no logout files a second time
	esac
	stty sane 2>/dev/null || : # it may be as a killed proxy left it
	printf '\n%s\n' "gateway init: $proxy ended with status $result before the shell did: this terminal is not shared" >&2
}
__terminalproxy_share
unset -f __terminalproxy_share
[[ ${TERMINALPROXY_INIT-} != started ]] || unset TERMINALPROXY_INIT

# What sets PROMPT_COMMAND further on sets the first of a list, and the marks stay. Hardened machines have it readonly.
[[ $- != *i* ]] || ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)) || [[ $(readonly -p)$'\n' == *' PROMPT_COMMAND'[=$'\n']* ]] ||
	PROMPT_COMMAND=("${PROMPT_COMMAND[@]-}")
