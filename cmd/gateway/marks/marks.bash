# Shell marks for bash 4.4 and newer: they tell a terminal, and agents through proxy, where each command and its output begin
# and end, how it ended (OSC 133), and in which directory (OSC 7). Everything is in PS0 and PS1: nothing else is printed.
if [[ $- == *i* && ${TERM:-dumb} != dumb && -t 1 && -t 2 && -z ${__marks_id-} ]] &&
	((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
	__marks_id=$$.${SRANDOM:-$RANDOM$RANDOM} # what programs print cannot know it
	__marks_begin='\e]133;C;aid='$__marks_id'\a'
	__marks_input='\[\e]133;B;aid='$__marks_id'\a\]'
	__marks_prompt=

	# PS1 may have been set anew. $? in it is that of the command, whatever has run since.
	__marks_wrap() {
		[[ -n $__marks_id ]] || return 0
		if [[ -z $__marks_prompt && ${PS1-}${PS0-} == *@(]133;|]633;|__vsc_prompt_start)* && ${PS1-} != *'133;D;$?;aid='* ]]; then
			__marks_id= # the shell has marks by another's doing
			return 0
		fi
		local LC_ALL=C i byte url=
		for ((i = 0; i < ${#PWD}; i++)); do
			byte=${PWD:i:1}
			case $byte in
			[a-zA-Z0-9/._~-]) ;;
			*)
				printf -v byte %d "'$byte"
				printf -v byte %%%02X $((byte & 255))
				;;
			esac
			url+=$byte
		done
		PS1=${PS1-}
		PS1=${PS1#"$__marks_prompt"}
		PS1=${PS1%"$__marks_input"}
		__marks_prompt='\[\e]133;D;$?;aid='$__marks_id'\a\e]7;file://'${HOSTNAME-}$url'\a\e]133;A;aid='$__marks_id'\a\]'
		PS1=$__marks_prompt$PS1$__marks_input
		PS0=${PS0-}
		PS0=$__marks_begin${PS0#"$__marks_begin"}
		__marks_last
	}

	# __marks_wrap has to be the last that PROMPT_COMMAND runs, or the last of bash-preexec's functions.
	__marks_last() {
		local command rest=()
		if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
			for command in "${precmd_functions[@]}"; do
				[[ $command == __marks_wrap ]] || rest+=("$command")
			done
			precmd_functions=("${rest[@]}" __marks_wrap)
		elif [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
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
fi
