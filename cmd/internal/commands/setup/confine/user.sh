#!/bin/sh
# Makes a user of its own for your agents, with a token of role agent. That user cannot read your
# files, reach your sockets, or see your processes' memory. Run the agent in a terminal of its own:
# a program on your terminal can write there.
# From `gateway confine user`. Usage: sh agent-user.sh [NAME]
set -eu
agent=${1:-agent}
id "$agent" >/dev/null 2>&1 || sudo useradd --create-home "$agent"
gateway token create "$agent" --role agent |
	sudo -H -u "$agent" sh -c 'umask 077; cat > "$HOME/gateway.token"'
token=$(sudo -H -u "$agent" sh -c 'echo "$HOME/gateway.token"')
echo "Before your first session, start this:     gateway serve"
echo "The agent connects, once:                  sudo -iu $agent claude mcp add term --" \
	"gateway mcp --gateway ws://127.0.0.1:7117 --token-file $token"
echo "It ends for good with:                     gateway token revoke $agent"
