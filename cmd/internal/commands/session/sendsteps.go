package session

import (
	"encoding/json"
	"strings"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// readParts reads what to type from the flags.
func readParts(env *cli.Env, in *sendOptions) (parts []protocol.InputPart, err error) {
	if in.steps != "" {
		return readSteps(env, in)
	}
	input := text.Typing{Text: in.text, Keys: in.keys, Enter: in.enter}
	input.Mouse, err = text.ParseMouse(
		text.MouseWords{On: "--click", At: "--click-at", Act: "--mouse", To: "--drag-to"}, in.click,
		in.clickAt, in.mouse, in.to)
	if err != nil {
		return nil, cli.Usage("send: %w", err)
	}
	if in.paste != "" {
		if input.Paste, err = readInput(env, "--paste", in.paste); err != nil {
			return nil, err
		}
	}
	if parts, err = input.Parts(); err != nil {
		return nil, cli.Usage("send: %w", err)
	}
	return parts, nil
}

// readSteps reads the parts of --steps. The condition of the last step becomes that of --until.
func readSteps(env *cli.Env, in *sendOptions) ([]protocol.InputPart, error) {
	for _, flag := range []string{
		"text", "paste", "enter", "click", "click-at", "mouse", "drag-to", "until", "any", "stop",
	} {
		if in.given(flag) {
			return nil, cli.Usage("send: --steps cannot be used with --%s: put that into the steps", flag)
		}
	}
	if len(in.keys) > 0 {
		return nil, cli.Usage("send: --steps cannot be used with keys (%.40q): put them into the steps, "+
			"or name a session that gateway ls lists", in.keys[0])
	}
	data, err := readInput(env, "--steps", in.steps)
	if err != nil {
		return nil, err
	}
	var steps []text.Step
	if err := json.Unmarshal([]byte(data), &steps); err != nil {
		return nil, cli.Usage("send: --steps %s: write a JSON list, as in "+
			`[{"text":"make\n","until":"waiting"}]: %w`, in.steps, err)
	}
	parts, err := text.StepParts(steps)
	if err != nil {
		return nil, cli.Usage("send: --%w", err)
	}
	last := steps[len(steps)-1]
	in.until = strings.TrimSuffix(last.Until+"="+last.Value, "=")
	in.more.stop = last.Stop
	return parts, nil
}
