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

// Bounds of parameters. Some clients give up on a call after 60 seconds, or after 300 in any case.
// Some of the former wait longer if they get progress notes: see habits.extends.
const (
	maxTimeoutMs     = 240_000
	maxSilentMs      = 50_000 // without progress notes
	defaultTimeoutMs = 10_000
	heldMs           = 40_000 // the default while the user must approve the input
	requestTimeoutMs = 30_000
	maxSettleMs      = 10_000
	defaultSettleMs  = 300
	defaultHistory   = 200
	maxSeconds       = 24 * 3600
)

// tool is the description of a tool for the client, and its function. The text of run's error is
// the whole answer.
type tool struct {
	def *mcp.Tool
	run func(context.Context, *mcp.CallToolRequest) (string, error)
}

// param is one parameter in a tool's schema. Types are never unions with null: some clients reject
// those.
type param struct {
	name, kind, about string
	enum              []string
	low, high         int // of an integer; a high of 0 is unbounded
	required          bool
	unlisted          bool // the schema leaves enum out, as another tool lists it
	items             any  // the schema of an array's items, nil for strings
}

// Parameters that several tools have; the instructions describe them once.
var (
	terminalParam = param{name: "terminal", kind: "string"}
	timeoutParam  = param{name: "timeout_ms", kind: "integer", high: maxTimeoutMs}
	tokensParam   = param{name: "max_tokens", kind: "integer", low: text.MinTokens, high: text.MaxTokens}
	anyParam      = param{name: "any", kind: "array", about: "Or one of these regexes."}
	stopParam     = param{name: "stop", kind: "array", about: "Regexes that end it unmet."}
	laterSteps    = param{name: "steps", kind: "array", items: stepItems}
	valueParam    = param{name: "value", kind: "string", about: "For text, title, gone; a regex (RE2); for idle a time like 500ms."}
)

func (s *toolset) listTools() []tool {
	tools := []tool{
		define("terminal_list", "List the terminals that you may see.",
			readOnly(), false, s.listTerminals),
		define("terminal_read",
			"Look at a terminal, later at its news for you. First line: id, rev, cursor (row,column), "+
				"state, and any news.",
			readOnly(), true, s.readView, terminalParam,
			param{name: "view", kind: "string", enum: append([]string{"screen", "history", "changes", chatView}, commandViews...), about: "screen: all of it. changes (default): rows new to you. history: scrolled off, then the screen. chat: of a coding agent. command: the shell's last: line, status, output."},
			param{name: "since_rev", kind: "integer"},
			param{name: "lines", kind: "integer", high: protocol.MaxHistory, about: "Rows: of history (200), or the last of a screen."},
			param{name: "start", kind: "integer", about: "First line."},
			param{name: "match", kind: "string", about: "Only rows that match this regex, context rows around."},
			param{name: "context", kind: "integer", high: protocol.MaxContext},
			tokensParam, imageParam),
		define("terminal_wait",
			waitWords+shellWords,
			readOnly(), true, s.waitForFact, terminalParam,
			param{name: "for", kind: "string", enum: text.Conditions, required: true},
			valueParam, anyParam, stopParam,
			param{name: "since_rev", kind: "integer", about: "Only changes since this rev."},
			tokensParam, timeoutParam, imageParam),
		define("terminal_request_control",
			"Ask the user to let you type; steps follow as in terminal_send, on the same screen.",
			&mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}, false, s.requestControl, terminalParam,
			param{name: "reason", kind: "string", required: true, about: "For the user: what you want to do."},
			param{name: "level", kind: "string", enum: []string{string(protocol.LevelType), string(protocol.LevelDrive)}, about: "drive (default): every key. type: text and editing keys at a prompt; Enter and all input elsewhere wait for the user."},
			param{name: "seconds", kind: "integer", high: maxSeconds},
			laterSteps, timeoutParam),
		define("terminal_send",
			"Type and click while you have control, then see what changed. Order: mouse, text or paste, keys, Enter. Keys: enter, esc, tab, backspace, up, down, left, right, home, end, pageup, pagedown, f1 to f35, kp-5, ctrl-c, alt-x, shift-enter. The mouse works where the first line says mouse.",
			&mcp.ToolAnnotations{}, true, s.sendInput, terminalParam,
			param{name: "text", kind: "string", about: "A newline at its end is Enter. Several lines are pasted where the program accepted that."},
			param{name: "paste", kind: "string"},
			param{name: "keys", kind: "array"},
			param{name: "enter", kind: "boolean", about: "Enter at the end."},
			param{name: "click", kind: "string", about: "Click on this text, on the screen once."},
			param{name: "click_at", kind: "string", about: "Or at row,column: 5,12."},
			param{name: "mouse", kind: "string", about: "double-click, right-click, press, release, move, drag; anywhere wheel-up, wheel-down*3. ctrl-, alt-, shift- before it."},
			param{name: "to", kind: "string", about: "Drag to row,column."},
			param{name: "expect_rev", kind: "integer", about: "Only if the screen still has this rev."},
			param{name: "wait_for", kind: "string", enum: waitFor, unlisted: true, about: "Then wait for this, as terminal_wait does."},
			param{name: "value", kind: "string"},
			param{name: "stop", kind: "array"},
			stepsParam(),
			param{name: "look", kind: "string", enum: looks, about: "What to show then. Default: changes."},
			param{name: "settle_ms", kind: "integer", high: maxSettleMs, about: "Quiet. Default 300."},
			tokensParam, timeoutParam),
		define("terminal_release", "Give the keyboard back, or withdraw a request.",
			&mcp.ToolAnnotations{DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}, false, s.releaseControl, terminalParam,
			param{name: "note", kind: "string", about: "For the user: what you did, what remains."}),
		s.sayTool(),
	}
	if s.cfg.Programs == nil {
		return tools
	}
	after := slices.IndexFunc(tools, func(t tool) bool { return t.def.Name == "terminal_send" }) + 1
	return slices.Concat(tools[:after], s.startTools(), tools[after:after+1], s.closeTools(), tools[after+1:])
}

// waitWords describes terminal_wait. shellWords follows for clients without tasks, taskWords for
// those with tasks.
const (
	waitWords = "Wait instead of sleeping, then read the screen. idle: quiet; waiting: for input; " +
		"control: the user answered or wrote, or a grant ended."
	shellWords = " A long wait: run gateway wait in your own background shell, its exit wakes you."
	taskWords  = " A long wait or terminal_request_control becomes a task: end your turn, its end " +
		"wakes you."
)

// wordItem is the schema of a string in an array, and stepItems that of a step. Some clients refuse
// an object without properties.
var (
	wordItem  = map[string]any{"type": "string"}
	stepItems = map[string]any{"type": "object", "properties": map[string]any{"text": wordItem}}
)

// stepsParam is the parameter that holds several inputs and what must come true between them.
func stepsParam() param {
	step := map[string]any{"text": wordItem, "until": wordItem, "value": wordItem}
	return param{
		name: "steps", kind: "array",
		items: map[string]any{"type": "object", "properties": step},
		about: "Instead, up to 16 {text or keys, enter, until, value, stop}; until is a wait_for that " +
			"must come true before the next. Not for what you must read in between.",
	}
}

// waitFor lists the conditions that can follow typing: all but the decision on a request.
var waitFor = text.Conditions[:len(text.Conditions)-1]

func readOnly() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)}
}

// define builds a tool. always keeps a client from hiding it behind a search.
func define[In any](name, about string, hints *mcp.ToolAnnotations, always bool,
	run func(context.Context, *mcp.CallToolRequest, In) (string, error), params ...param,
) tool {
	def := &mcp.Tool{Name: name, Description: about, Annotations: hints, InputSchema: schema(params)}
	if always {
		def.Meta = mcp.Meta{"anthropic/alwaysLoad": true}
	}
	return tool{def: def, run: func(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
		var in In
		params := params
		if taskOf(ctx) != nil {
			params = taskLimits(params)
		}
		if err := decode(req.Params.Arguments, &in, params); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return run(ctx, req, in)
	}}
}

// schema returns the JSON Schema of the parameters. It is short, because every model reads it: only
// errors name the bounds.
func schema(params []param) map[string]any {
	properties, required := make(map[string]any), []string{}
	for _, p := range params {
		s := map[string]any{"type": p.kind}
		if p.about != "" {
			s["description"] = p.about
		}
		switch {
		case p.kind == "array":
			if s["items"] = p.items; p.items == nil {
				s["items"] = wordItem
			}
		case p.enum != nil && !p.unlisted:
			s["enum"] = p.enum
		}
		properties[p.name] = s
		if p.required {
			required = append(required, p.name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// decode reads the arguments of a call and checks them against the parameters. Its errors name the
// parameter, so that the agent can correct the call by itself.
func decode(raw json.RawMessage, in any, params []param) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	raw = convertArguments(raw, params)
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
		if err := p.checkValue(given[p.name]); err != nil {
			return err
		}
	}
	return nil
}

func (p param) checkValue(v any) error {
	switch v := v.(type) {
	case nil:
		if p.required {
			return fmt.Errorf("parameter %q is missing%s", p.name, p.writeHint())
		}
	case float64:
		switch {
		case v < 0:
			return fmt.Errorf("parameter %q is %.0f, it must not be negative", p.name, v)
		case p.high > 0 && v > float64(p.high):
			return fmt.Errorf("parameter %q is %.0f, the limit is %d", p.name, v, p.high)
		}
	case string:
		if p.required && strings.TrimSpace(v) == "" {
			return fmt.Errorf("parameter %q is empty%s", p.name, p.writeHint())
		}
		if p.enum == nil || v == "" || slices.Contains(p.enum, v) {
			return nil
		}
		return fmt.Errorf("parameter %q is %.32q, must be one of: %s", p.name, v, strings.Join(p.enum, ", "))
	}
	return nil
}

// writeHint returns the next step, after a colon.
func (p param) writeHint() string {
	switch {
	case p.about != "":
		return ": " + p.about
	case p.enum != nil:
		return ": one of " + strings.Join(p.enum, ", ")
	}
	return ""
}

// badArguments describes a failure of encoding/json to the agent.
func badArguments(err error, params []param) error {
	if bad, ok := errors.AsType[*text.StepError](err); ok {
		return bad
	}
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
	accepted := "it takes " + strings.Join(names, ", ")
	if len(names) == 0 {
		accepted = "it takes no parameters"
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown parameter %s: %s", name, accepted)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the arguments are an incomplete JSON object")
	}
	return fmt.Errorf("the arguments must be a JSON object (%s): %s", strings.TrimPrefix(err.Error(), "json: "), accepted)
}
