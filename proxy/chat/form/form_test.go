package form_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/form"
)

// The agents' adapters put a text field beside each of a model's questions.
func TestAQuestionWithAFieldForWords(t *testing.T) {
	f, err := form.Read("Please answer.", json.RawMessage(`{"type":"object","properties":{
		"question_0":{"type":"string","title":"Colour","description":"Which colour?","oneOf":[{"const":"Red","title":"Red","description":"warm"},{"const":"Blue","title":"Blue"}]},
		"question_0_custom":{"type":"string","title":"Other"},
		"question_1":{"type":"array","title":"Which sizes?","description":"Sizes","items":{"anyOf":[{"const":"S","title":"Small"},{"const":"L","title":"Large"}]}},
		"question_1_custom":{"type":"string","title":"Other"}}}`))
	require.NoError(t, err)
	require.Equal(t, []chat.Question{
		{ID: "question_0", Header: "Colour", Text: "Which colour?", Options: []chat.Option{{Label: "Red", Description: "warm"}, {Label: "Blue"}}},
		{ID: "question_1", Header: "Sizes", Text: "Which sizes?", Many: true, Options: []chat.Option{{Label: "Small"}, {Label: "Large"}}},
	}, f.Questions)
	for replies, want := range map[*map[string][]string]string{
		{"question_0": {"Blue"}, "question_1": {"Small", "none at all"}}: `{"question_0":"Blue","question_1":["S"],"question_1_custom":"none at all"}`,
		{"question_0": {"Green"}, "question_1": {"a", "b"}}:              `{"question_0_custom":"Green","question_1_custom":"a, b"}`,
	} {
		got, accepted, err := f.Content(*replies)
		require.NoError(t, err)
		require.True(t, accepted)
		b, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, want, string(b))
	}
}

func TestAServersForm(t *testing.T) {
	f, err := form.Read("Deploy", json.RawMessage(`{"type":"object","required":["host","port","tls","kind"],"properties":{
		"host":{"type":"string"},"port":{"type":"integer","title":"Port"},"tls":{"type":"boolean"},
		"kind":{"type":"string","enum":["a","b"],"enumNames":["Alpha","Beta"]},"load":{"type":"number"}}}`))
	require.NoError(t, err)
	require.Equal(t, "Deploy", f.Why)
	require.Equal(t, []chat.Option{{Label: form.Skip}}, f.Questions[4].Options, "what need not be said")
	fine := func() map[string][]string {
		return map[string][]string{"host": {"h"}, "port": {"22"}, "tls": {"no"}, "kind": {"Beta"}, "load": {form.Skip}}
	}
	got, accepted, err := f.Content(fine())
	require.NoError(t, err)
	require.True(t, accepted)
	require.Equal(t, map[string]any{"host": "h", "port": int64(22), "tls": false, "kind": "b"}, got)
	for field, reply := range map[string]string{"port": "ssh", "tls": "perhaps", "kind": "a", "load": "NaN"} {
		bad := fine()
		bad[field] = []string{reply}
		require.ErrorContains(t, f.Check(bad), "must be", field)
	}
}

// A form without fields asks yes or no.
func TestAFormWithoutFields(t *testing.T) {
	f, err := form.Read("Really?", json.RawMessage(`{"type":"object","properties":{}}`))
	require.NoError(t, err)
	id := f.Questions[0].ID
	for reply, want := range map[string]bool{"accept": true, "decline": false} {
		_, accepted, err := f.Content(map[string][]string{id: {reply}})
		require.NoError(t, err)
		require.Equal(t, want, accepted)
	}
	require.Error(t, f.Check(map[string][]string{id: {"yes, but"}}))
}

func TestFormsThatCannotBeShown(t *testing.T) {
	for _, schema := range []string{
		`7`, `{"properties":{"a":{"type":"object"}}}`, `{"properties":{"a":{"type":"array"}}}`, `{"properties":{"a":7}}`, `{"properties":{"a":{}`,
	} {
		_, err := form.Read("Words", json.RawMessage(schema))
		require.Error(t, err, schema)
	}
	_, err := form.Read("", json.RawMessage(`{}`))
	require.Error(t, err)
}
