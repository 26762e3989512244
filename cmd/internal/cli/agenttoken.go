package cli

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
)

// agentTokenFlag is the flag by which an agent on this machine tells itself apart. It is for one
// agent: no file sets it for all.
const agentTokenFlag = "agent-token"

// AddAgentToken adds the flag of an agent's local token.
func AddAgentToken(set *pflag.FlagSet, path *string) {
	set.StringVar(path, agentTokenFlag, "",
		"`FILE` with the agent's local token, see: gateway token create NAME --local")
}

// AsksWith has a client say with what it asks for control, and prove the local token of a file, if
// one is named.
func (env *Env) AsksWith(cfg *client.Config, tokenFile string) error {
	cfg.Program, cfg.Parent = "gateway "+env.Command, parentName()
	if tokenFile == "" {
		return nil
	}
	token, err := auth.ReadTokenFile(tokenFile)
	if err != nil {
		return &Failure{
			Status: StatusUsage,
			Cause:  fmt.Errorf("--%s: %w", agentTokenFlag, err),
			Hint:   "create one with: gateway token create NAME --local",
		}
	}
	cfg.Sign = func(message []byte) []byte { return auth.Sign(token, message) }
	return nil
}

// parentName returns the name of the program that started this one, "" if the system does not tell
// it.
func parentName() string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid()))
	return string(bytes.TrimSpace(name))
}
