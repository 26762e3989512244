package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Strings that several clients send for numbers, switches and lists count as those.
func TestArgumentsAsStrings(t *testing.T) {
	type arguments struct {
		Number int64    `json:"number"`
		Switch bool     `json:"switch"`
		List   []string `json:"list"`
		Text   string   `json:"text"`
	}
	params := []param{{name: "number", kind: "integer", high: 50_000}, {name: "switch", kind: "boolean"}, {name: "list", kind: "array"}, {name: "text", kind: "string"}}
	for given, want := range map[string]arguments{
		`{"number":"2000"}`:              {Number: 2000},
		`{"number":" 2000 "}`:            {Number: 2000},
		`{"number":2000.0}`:              {Number: 2000},
		`{"number":"2e3"}`:               {Number: 2000},
		`{"number":""}`:                  {},
		`{"number":null}`:                {},
		`{"number":9007199254740993}`:    {},
		`{"switch":"true"}`:              {Switch: true},
		`{"switch":"True","number":"1"}`: {Switch: true, Number: 1},
		`{"switch":"false"}`:             {},
		`{"list":"[\"enter\",\"up\"]"}`:  {List: []string{"enter", "up"}},
		`{"list":["enter"]}`:             {List: []string{"enter"}},
		`{"list":""}`:                    {},
		`{"text":"2000"}`:                {Text: "2000"},
		`{"text":"true","switch":true}`:  {Text: "true", Switch: true},
		`{"text":"[\"x\"]"}`:             {Text: `["x"]`},
		`{"text":""}`:                    {},
	} {
		var got arguments
		err := decode(json.RawMessage(given), &got, params)
		if given == `{"number":9007199254740993}` { // not converted to a float on its way
			require.ErrorContains(t, err, "the limit is 50000")
			continue
		}
		require.NoError(t, err, given)
		require.Equal(t, want, got, given)
	}
	for given, say := range map[string]string{
		`{"number":"soon"}`:  `parameter "number" is a JSON string, must be of type integer`,
		`{"number":"1.5"}`:   `parameter "number" is a JSON string, must be of type integer`,
		`{"number":"0x10"}`:  `parameter "number" is a JSON string, must be of type integer`,
		`{"number":"+5"}`:    `parameter "number" is a JSON string, must be of type integer`,
		`{"number":"-5"}`:    `must not be negative`,
		`{"number":"50001"}`: `the limit is 50000`,
		`{"number":true}`:    `must be of type integer`,
		`{"switch":"yes"}`:   `parameter "switch" is a JSON string, must be of type boolean`,
		`{"switch":1}`:       `must be of type boolean`,
		`{"list":"[1]"}`:     `must be of type array`,
		`{"list":"enter"}`:   `parameter "list" is a JSON string, must be of type array`,
		`{"text":5}`:         `must be of type string`,
		`{"unknown":"5"}`:    `unknown parameter "unknown"`,
		`[]`:                 `must be a JSON object`,
	} {
		require.ErrorContains(t, decode(json.RawMessage(given), &arguments{}, params), say, given)
	}
}
