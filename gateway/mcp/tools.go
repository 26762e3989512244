package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// Bounds of parameters. Clients give up on a call after 60 seconds at the earliest, so no wait is that long.
const (
	maxTimeoutMs     = 50_000
	defaultTimeoutMs = 10_000
	heldMs           = 40_000 // for a user who has to let something through
	requestTimeoutMs = 30_000
	maxSettleMs      = 10_000
	defaultSettleMs  = 300
	defaultHistory   = 200
	maxSeconds       = 24 * 3600
)

// tool is one tool: what the client is told, and what it does. The text of run's error is the whole answer.
type tool struct {
	def *mcp.Tool
	run func(context.Context, *mcp.CallToolRequest) (string, error)
}

// param is one parameter in a tool's schema. Types are never unions with null: some clients refuse those.
type param struct {
	name, kind, about string
	enum              []string
	low, high         int // of an integer; a high of 0 is none
	required          bool
}

var (
	terminalParam = param{name: "terminal", kind: "string", about: "Id from terminal_list. May be left out when exactly one terminal runs."}
	timeoutParam  = param{name: "timeout_ms", kind: "integer", high: maxTimeoutMs, about: "How long to wait, in milliseconds. Default 10000."}
	tokensParam   = param{name: "max_tokens", kind: "integer", low: text.MinTokens, high: text.MaxTokens, about: "Limit the answer to about this many tokens; it says what is left out. Default 10000."}
	valueParam    = param{name: "value", kind: "string", about: "What to look for with text, regex (RE2) and gone; the quiet time with idle, like 500ms."}
)

const rowsCount = "Rows and columns count from 1."

func (s *Server) tools() []tool {
	tools := []tool{
		define("terminal_list", "List terminals", "List the terminals that you may look at: id, program, size, state, idle time, and who has the keyboard.",
			readOnly(), false, s.list),
		define("terminal_read", "Read a terminal",
			"Look at a terminal. The first line says its size, revision (rev), cursor (row,column) and who has the keyboard; the screen's rows follow. A last line that begins with the fence's mark names what is highlighted, as the selected entry of a menu. "+rowsCount,
			readOnly(), true, s.read, terminalParam,
			param{name: "view", kind: "string", enum: []string{"screen", "history", "changes"}, about: "screen (default), history (rows that scrolled off, then the screen), or changes (what is new after since_rev: rows that changed or moved, and those that scrolled off meanwhile)."},
			param{name: "since_rev", kind: "integer", about: "With view changes: the rev of what you have seen."},
			param{name: "lines", kind: "integer", high: protocol.MaxHistory, about: "With view history: how many rows of history, default 200. With view screen: only the last rows of the screen."},
			param{name: "start", kind: "integer", about: "With view history: the line number to start at, as printed in answers. Default: the newest rows."},
			tokensParam, imageParam),
		define("terminal_wait", "Wait for a condition",
			"Wait for a condition instead of sleeping, then read the screen: text or regex appears, text is gone, the screen changed, was idle (quiet), the program exits or waits for input, or (control) the user answered your request for the keyboard, took it back, or wrote to you. A timeout is not an error.",
			readOnly(), true, s.wait, terminalParam,
			param{name: "for", kind: "string", enum: text.Conditions, required: true, about: "What to wait for."},
			valueParam,
			param{name: "since_rev", kind: "integer", about: "Then say only what is new after this rev, as view changes of terminal_read does."},
			tokensParam, timeoutParam, imageParam),
		define("terminal_request_control", "Ask for the keyboard",
			"Ask the user to let you type into a terminal. They see your reason and answer at the terminal; until then the answer is pending.",
			&mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}, false, s.requestControl, terminalParam,
			param{name: "reason", kind: "string", required: true, about: "One sentence for the user: what you want to do. At most 500 bytes."},
			param{name: "level", kind: "string", enum: []string{string(protocol.LevelType), string(protocol.LevelDrive)}, about: "drive (default): every key. type: text and editing keys at a shell's or REPL's prompt; Enter, similar keys and all input elsewhere wait until the user lets them through."},
			param{name: "seconds", kind: "integer", high: maxSeconds, about: "How long you need it. The user's limit applies, 10 minutes by default."},
			param{name: "timeout_ms", kind: "integer", high: maxTimeoutMs, about: "How long to wait for the answer, in milliseconds. Default 30000."}),
		define("terminal_send", "Type into a terminal",
			"Type and click, while you have control, then see what changed once the screen settled. Order: the mouse, then text or paste, then keys, then Enter. The mouse works where the header of the screen says mouse. Names of keys: enter, esc, tab, backspace, up, down, left, right, home, end, pageup, pagedown, f1 to f35, kp-5, ctrl-c, alt-x, shift-enter. "+rowsCount,
			&mcp.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(true)}, true, s.send, terminalParam,
			param{name: "text", kind: "string", about: "Typed as it is, without Enter; a newline at the end of a single line is Enter. Several lines go in as one paste where the program can take that."},
			param{name: "paste", kind: "string", about: "Pasted in one piece (bracketed paste)."},
			param{name: "keys", kind: "array", about: "Named keys, one after another."},
			param{name: "enter", kind: "boolean", about: "Press Enter at the end, after the program took the text."},
			param{name: "click", kind: "string", about: "Click on this text, which must be on the screen exactly once, within one row."},
			param{name: "click_at", kind: "string", about: "Click at this place instead: row,column, like 5,12."},
			param{name: "mouse", kind: "string", about: "What to do there instead of a click: double-click, right-click, middle-click, press, release, move, drag, wheel-up, wheel-down*3; ctrl-, alt- and shift- may stand before it. A wheel needs no place."},
			param{name: "to", kind: "string", about: "Drag from there to this place: row,column."},
			param{name: "expect_rev", kind: "integer", about: "Type only if the screen still has this rev."},
			param{name: "wait_for", kind: "string", enum: waitFor, about: "After typing, wait for this; only what happens after the last key counts."},
			valueParam,
			param{name: "settle_ms", kind: "integer", high: maxSettleMs, about: "The screen has settled when it was quiet for this long. Default 300."},
			tokensParam, timeoutParam),
		define("terminal_release", "Give the keyboard back", "Give the keyboard back to the user, or withdraw an open request.",
			&mcp.ToolAnnotations{DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}, false, s.release, terminalParam,
			param{name: "note", kind: "string", about: "One sentence for the user: what you did, what remains to do. At most 500 bytes."}),
		s.sayTool(),
	}
	if s.cfg.Programs == nil {
		return tools
	}
	after := slices.IndexFunc(tools, func(t tool) bool { return t.def.Name == "terminal_send" }) + 1
	return slices.Concat(tools[:after], s.startTools(), tools[after:after+1], s.closeTools(), tools[after+1:])
}

// waitFor is what can follow typing: all conditions but the decision on a request.
var waitFor = text.Conditions[:len(text.Conditions)-1]

func readOnly() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}
}

// define puts a tool together. always keeps a client from hiding the tool behind a search.
func define[In any](name, title, about string, hints *mcp.ToolAnnotations, always bool,
	run func(context.Context, *mcp.CallToolRequest, In) (string, error), params ...param,
) tool {
	def := &mcp.Tool{Name: name, Title: title, Description: about, Annotations: hints, InputSchema: schema(params)}
	if always {
		def.Meta = mcp.Meta{"anthropic/alwaysLoad": true}
	}
	return tool{def: def, run: func(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
		var in In
		if err := decode(req.Params.Arguments, &in, params); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return run(ctx, req, in)
	}}
}

// schema is the JSON Schema of the parameters.
func schema(params []param) map[string]any {
	properties, required := make(map[string]any), []string{}
	for _, p := range params {
		s := map[string]any{"type": p.kind, "description": p.about}
		switch {
		case p.kind == "array":
			s["items"] = map[string]any{"type": "string"}
		case p.kind == "integer":
			s["minimum"] = p.low
			if p.high > 0 {
				s["maximum"] = p.high
			}
		case p.enum != nil:
			s["enum"] = p.enum
		}
		properties[p.name] = s
		if p.required {
			required = append(required, p.name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// decode reads the arguments of a call and holds them against the parameters. Its errors name the parameter, so that the
// agent can mend the call by itself.
func decode(raw json.RawMessage, in any, params []param) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return badArguments(err, params)
	}
	var given map[string]any
	if err := json.Unmarshal(raw, &given); err != nil {
		return badArguments(err, params)
	}
	for _, p := range params {
		if err := p.check(given[p.name]); err != nil {
			return err
		}
	}
	return nil
}

func (p param) check(v any) error {
	switch v := v.(type) {
	case nil:
		if p.required {
			return fmt.Errorf("parameter %q is missing: %s", p.name, p.about)
		}
	case float64:
		switch {
		case v < 0:
			return fmt.Errorf("parameter %q is %.0f, it must not be negative", p.name, v)
		case p.high > 0 && v > float64(p.high):
			return fmt.Errorf("parameter %q is %.0f, at most %d is possible", p.name, v, p.high)
		}
	case string:
		if p.required && strings.TrimSpace(v) == "" {
			return fmt.Errorf("parameter %q is empty: %s", p.name, p.about)
		}
		if p.enum == nil || v == "" {
			return nil
		}
		for _, allowed := range p.enum {
			if v == allowed {
				return nil
			}
		}
		return fmt.Errorf("parameter %q is %.32q, must be one of: %s", p.name, v, strings.Join(p.enum, ", "))
	}
	return nil
}

// badArguments words a failure of encoding/json for the agent.
func badArguments(err error, params []param) error {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mistyped.Field != "" {
		for _, p := range params {
			if p.name == strings.Split(mistyped.Field, ".")[0] {
				return fmt.Errorf("parameter %q is a JSON %s, must be of type %s", p.name, mistyped.Value, p.kind)
			}
		}
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
	}
	takes := "it takes " + strings.Join(names, ", ")
	if len(names) == 0 {
		takes = "it takes none"
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown parameter %s: %s", name, takes)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the arguments are no whole JSON object")
	}
	return fmt.Errorf("the arguments must be a JSON object (%s): %s", strings.TrimPrefix(err.Error(), "json: "), takes)
}
