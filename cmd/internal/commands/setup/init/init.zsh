# Share new terminals with AI agents: they see this one, and type only what you let them. From `gateway init zsh`; put it before
# everything else in ~/.zshrc: only the shared shell reads most of the rest.
__terminalproxy_share() {
	emulate -L zsh
	local proxy=@PROXY@ session ended result=0
	local -a login
	[[ -o interactive && -z ${ZSH_EXECUTION_STRING-}${ZSH_SCRIPT-} && -t 0 && -t 1 && -t 2 ]] || return 0
	[[ -z @UNLESS@ ]] || return 0
	case ${TERM:-dumb} in dumb | linux | unknown) return 0 ;; esac # on a console others may start a desktop from here
	[[ -x $proxy && -O /dev/stdin ]] || return 0
	if [[ -r /proc/$$/stat ]]; then # a new terminal, and no shell within another one
		read -r _ _ _ _ _ session _ </proc/$$/stat
		[[ $session == $$ ]] || return 0
	fi
	[[ ! -o login ]] || login=(-l)
	ended=$(TERMINALPROXY_INIT=started && SHLVL=$((SHLVL - 1)) && export TERMINALPROXY_INIT SHLVL && exec $proxy --agent --status-fd 3 -- ${ZSH_ARGZERO#-} $login 3>&1 >&2) ||
		result=$?
	[[ $ended != [0-9]* ]] || exec /bin/sh -c "exit $ended" # no logout files a second time
	stty sane 2>/dev/null || : # it may be as a killed proxy left it
	print -ru2 -- $'\n'"gateway init: $proxy ended with status $result before the shell did: this terminal is not shared"
}
__terminalproxy_share
unfunction __terminalproxy_share
[[ ${TERMINALPROXY_INIT-} != started ]] || unset TERMINALPROXY_INIT

