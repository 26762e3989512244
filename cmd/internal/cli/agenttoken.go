package cli

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
)

// agentTokenFlag is the flag by which an agent on this machine identifies itself. It is for one
// agent, so a configuration file cannot set it.
const agentTokenFlag = "agent-token"

// AddAgentToken adds the flag of an agent's local token.
func AddAgentToken(set *pflag.FlagSet, path *string) {
	set.StringVar(path, agentTokenFlag, "",
		"`FILE` with the agent's local token, see: gateway token create NAME --local")
}

// IdentifyAgent makes a client name the program that asks for control, and prove the local token of
// a file, if tokenFile names one.
func (env *Env) IdentifyAgent(cfg *client.Config, tokenFile string) error {
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

// parentName returns the name of the program that started this one, or "" if the system does not
// report it.
func parentName() string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid()))
	return string(bytes.TrimSpace(name))
}
