# Shell marks for bash 4.4 and newer: they tell a terminal, and agents through proxy, where each command and its output begin
# and end, how it ended (OSC 133), and in which directory (OSC 7). Everything is in PS0 and PS1: nothing else is printed.
if [[ $- == *i* && ${TERM:-dumb} != dumb && -t 1 && -t 2 && -z ${__marks_id-} ]] &&
	((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
	__marks_id=$$.${SRANDOM:-$RANDOM$RANDOM} # what programs print cannot know it
	__marks_begin='\e]133;C;aid='$__marks_id'\a'
	__marks_input='\[\e]133;B;aid='$__marks_id'\a\]'
	__marks_prompt=

	# Whether a variable may be set: hardened machines have some that are readonly, of which one without a value has no @a.
	__marks_fixed=$(readonly -p)$'\n'
	__marks_may() {
		local - name=$1
		set +u
		[[ ${!name@a} != *r* && $__marks_fixed != *" $name"[=$'\n']* ]]
	}

	# The directory with percent escapes, for a URL.
	__marks_url() {
		local i byte url= dir=${PWD-}
		! __marks_may LC_ALL || local LC_ALL=C
		for ((i = 0; i < ${#dir}; i++)); do
			byte=${dir:i:1}
			case $byte in
			[a-zA-Z0-9/._~-]) ;;
			*)
				printf -v byte %d "'$byte"
				printf -v byte %%%02X $((byte & 255))
				;;
			esac
			url+=$byte
		done
		REPLY=$url
	}

	# PS1 may have been set anew. $? in it is the status of the command, even if more has run since.
	__marks_wrap() {
		[[ -n $__marks_prompt ]] || __marks_fixed=$(readonly -p)$'\n' # the start file has been read
		[[ -n $__marks_id ]] && __marks_may PS1 && __marks_may PS0 || return 0
		if [[ -z $__marks_prompt && ${PS1-}${PS0-} == *@(]133;|]633;|__vsc_prompt_start)* && ${PS1-} != *'133;D;$?;aid='* ]]; then
			__marks_id= # the shell has marks by another's doing
			return 0
		fi
		local REPLY
		if [[ -n $__marks_hooked ]]; then
			__marks_url
		else # PS1 itself has to say where the shell is
			REPLY='$(__marks_url; printf %s "$REPLY")'
		fi
		PS1=${PS1-}
		PS1=${PS1#"$__marks_prompt"}
		PS1=${PS1%"$__marks_input"}
		__marks_prompt='\[\e]133;D;$?;aid='$__marks_id'\a\e]7;file://'${HOSTNAME-}$REPLY'\a\e]133;A;aid='$__marks_id'\a\]'
		PS1=$__marks_prompt$PS1$__marks_input
		PS0=${PS0-}
		PS0=$__marks_begin${PS0#"$__marks_begin"}
		__marks_last
	}

	# __marks_wrap has to be the last that PROMPT_COMMAND runs, or the last of bash-preexec's functions.
	__marks_last() {
		local command rest=()
		__marks_hooked=
		if ! __marks_may PROMPT_COMMAND || ! __marks_may precmd_functions; then
			return 0
		fi
		__marks_hooked=yes
		if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
			for command in "${precmd_functions[@]}"; do
				[[ $command == __marks_wrap ]] || rest+=("$command")
			done
			precmd_functions=("${rest[@]}" __marks_wrap)
		elif [[ -n ${PROMPT_COMMAND[*]+set} && ${PROMPT_COMMAND@a} == *a* ]]; then
			for command in "${PROMPT_COMMAND[@]}"; do
				[[ $command == __marks_wrap ]] || rest+=("$command")
			done
			PROMPT_COMMAND=("${rest[@]}" __marks_wrap)
		elif [[ ${PROMPT_COMMAND-} != *__marks_wrap ]]; then
			# Twice is no harm. A shell that inherits it does not know the function.
			PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}'[[ -z ${__marks_id-} ]] || __marks_wrap'
		fi
	}
	__marks_last
	[[ -n $__marks_hooked ]] || __marks_wrap
fi
