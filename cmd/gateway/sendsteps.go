package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// readSteps reads the parts of --steps, nil without it. The condition of the last step becomes that
// of --until.
func (a *app) readSteps(
	cmd *cobra.Command, in *sendFlags, keys []string,
) ([]protocol.InputPart, error) {
	if in.steps == "" {
		return nil, nil
	}
	for _, flag := range []string{
		"text", "paste", "enter", "click", "click-at", "mouse", "drag-to", "until", "any", "stop",
	} {
		if cmd.Flags().Changed(flag) {
			return nil, usage("send: --steps takes no --%s beside it: put that into the steps", flag)
		}
	}
	if len(keys) > 0 {
		return nil, usage("send: --steps takes no keys beside it: put them into the steps")
	}
	data, err := a.readInput("--steps", in.steps)
	if err != nil {
		return nil, err
	}
	var steps []text.Step
	if err := json.Unmarshal([]byte(data), &steps); err != nil {
		return nil, usage("send: --steps %s: write a JSON list, as in "+
			`[{"text":"make\n","until":"waiting"}]: %w`, in.steps, err)
	}
	parts, err := text.StepParts(steps)
	if err != nil {
		return nil, usage("send: --%w", err)
	}
	last := steps[len(steps)-1]
	in.until = strings.TrimSuffix(last.Until+"="+last.Value, "=")
	in.more.stop = last.Stop
	return parts, nil
}
