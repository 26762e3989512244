package text_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
)

// The members of a JSON object have no order, so a step types text, a paste or keys.
func TestAStepHasOneOrder(t *testing.T) {
	const refused = "have no order in one step: use two steps"
	for step, want := range map[string]string{
		`{"text":"a","enter":true}`:                 `text "a", keys "enter"`,
		`{"paste":"a","enter":true}`:                `paste "a", keys "enter"`,
		`{"enter":true,"keys":["ctrl-u"]}`:          `keys "ctrl-u", keys "enter"`,
		`{"keys":["ctrl-u"],"text":"web1"}`:         refused,
		`{"text":"web1","keys":["enter"]}`:          refused,
		`{"keys":["esc"],"paste":"a","enter":true}`: refused,
	} {
		var s text.Step
		require.NoError(t, json.Unmarshal([]byte(step), &s))
		parts, err := text.StepParts([]text.Step{s})
		got := spelled(parts)
		if err != nil {
			got = err.Error()
		}
		require.Contains(t, got, want, step)
	}
}
