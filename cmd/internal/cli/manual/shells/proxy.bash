# Completion of proxy for bash. What follows PROGRAM is completed as PROGRAM's own, where the package bash-completion is loaded.
_proxy() {
	local cur=${COMP_WORDS[COMP_CWORD]} word= flags=yes i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--)
			flags=
			((i++))
			break
			;;
		@VALUED@)
			((i++))
			[[ ${COMP_WORDS[i]} == = ]] && ((i++)) # --flag=value is three words here
			;;
		-*) ;;
		*) break ;;
		esac
	done
	if ((i > COMP_CWORD)); then # the value of a flag
		[[ $cur == = ]] && cur=
		case $word in
		@WORDS@
		@FILES@) compopt -o default ;;
		esac
	elif ((i == COMP_CWORD)) && [[ $flags && $cur == -* ]]; then
		COMPREPLY=($(compgen -W "@FLAGS@" -- "$cur"))
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$i"
	elif ((i == COMP_CWORD)) && [[ $cur != */* ]]; then
		COMPREPLY=($(compgen -c -- "$cur"))
	else
		compopt -o default
	fi
}
complete -F _proxy proxy
