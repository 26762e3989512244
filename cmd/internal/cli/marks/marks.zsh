# Shell marks for zsh: they tell a terminal, and agents through proxy, where each command and its output begin and end, how it
# ended (OSC 133), and in which directory (OSC 7).
if [[ -o interactive && ${TERM:-dumb} != dumb && -t 1 && -z ${__marks_id-} ]]; then
	typeset -g __marks_id=$$.$RANDOM$RANDOM # what programs print cannot know it
	typeset -gi __marks_alone=0

	# __marks_url leaves its argument in REPLY, with percent escapes.
	__marks_url() {
		emulate -L zsh
		setopt extended_glob no_multibyte
		local MATCH MBEGIN MEND
		REPLY=${1//(#m)[^a-zA-Z0-9\/._~-]/%${(l:2::0:)$(([##16]#MATCH))}}
	}

	# Whether variables may be set: hardened machines have some that are readonly.
	__marks_may() {
		emulate -L zsh
		local name
		for name; do
			[[ ${(Pt)name} != *readonly* ]] || return 1
		done
	}

	# The first of the functions before a prompt: what the others print is not the command's.
	__marks_done() {
		local -i result=$?
		emulate -L zsh
		[[ -t 1 ]] || return 0
		local REPLY
		__marks_url "$PWD"
		print -rn -- $'\e]133;D;'$result';aid='$__marks_id$'\a\e]7;file://'$HOST$REPLY$'\a'
	}

	# The last one: PS1 may have been set anew.
	__marks_wrap() {
		emulate -L zsh
		__marks_may PS1 PROMPT_EOL_MARK precmd_functions preexec_functions || return 0
		if (( ! __marks_alone )); then
			__marks_alone=1
			local others=$PS1 name
			for name in precmd ${precmd_functions:#__marks_*}; do
				others+=${functions[$name]-}
			done
			if [[ $others == *\][16]33\;* && $PS1 != *'133;A;aid='* ]]; then # the shell has marks by another's doing
				precmd_functions=(${precmd_functions:#__marks_*})
				preexec_functions=(${preexec_functions:#__marks_begin})
				return
			fi
		fi
		[[ $PS1 == *']133;A;aid='$__marks_id* ]] ||
			PS1=$'%{\e]133;A;aid='$__marks_id$'\a%}'$PS1$'%{\e]133;B;aid='$__marks_id$'\a%}'
		# The sign behind output without a line end comes before all functions.
		[[ ${PROMPT_EOL_MARK-} == *$__marks_id* ]] ||
			PROMPT_EOL_MARK=$'%{\e]133;D;%?;aid='$__marks_id$'\a%}'${PROMPT_EOL_MARK-%B%S%#%s%b}
		[[ $precmd_functions[-1] == __marks_wrap && $precmd_functions[1] == __marks_done ]] ||
			precmd_functions=(__marks_done ${${precmd_functions:#__marks_done}:#__marks_wrap} __marks_wrap)
	}

	__marks_begin() {
		emulate -L zsh
		[[ -t 1 ]] || return 0
		local REPLY line=
		if (( $#1 && $#1 <= 2000 )); then
			__marks_url "$1"
			line=';cmdline_url='$REPLY
		fi
		(( $#line <= 7000 )) || line= # terminals ignore longer sequences
		print -rn -- $'\e]133;C;aid='$__marks_id$line$'\a'
	}

	__marks_join() {
		emulate -L zsh
		__marks_may PS1 PROMPT_EOL_MARK precmd_functions preexec_functions || return 0
		typeset -ga precmd_functions preexec_functions
		precmd_functions=(__marks_done $precmd_functions __marks_wrap)
		preexec_functions+=(__marks_begin)
	}
	__marks_join
	unfunction __marks_join
fi
