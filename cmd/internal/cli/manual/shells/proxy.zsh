#compdef proxy
# Completion of proxy for zsh. What follows PROGRAM is completed as PROGRAM's own.
_arguments -S -A '-*' \
	@SPECS@ \
	'*:: :{ [[ $words[1] == -- ]] && shift words && ((CURRENT--)); _normal -p proxy }'
