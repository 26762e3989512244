package fakemodel

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Request is what an agent asks of the model.
type Request struct {
	// Prompt is the last that the user wrote, as the agent passes it on.
	Prompt string
	// Result is what the last tool answered, as the agent passes it on; "" before the first call.
	Result string
	// Calls is the number of answers of tools in the conversation.
	Calls int
	// Text is all text of the conversation, in its order.
	Text string
	// Tools are those that the model may call.
	Tools []Tool
	// Body is the request as it came.
	Body []byte
}

// Tool is one that an agent offers. One vendor groups them in namespaces.
type Tool struct{ Namespace, Name string }

// wire is a request in the shapes of four vendors at once: their fields do not collide.
type wire struct {
	Tools                     []wireTool
	Messages, Input, Contents []message
}

type wireTool struct {
	Type, Name           string
	Function             struct{ Name string }
	Tools                []wireTool
	FunctionDeclarations []wireTool
}

// message is an entry of a conversation, or a block of one.
type message struct {
	Type, Role, Text       string
	Tools                  []wireTool // found by a search
	Content, Parts, Output json.RawMessage
	FunctionResponse       *struct{ Response json.RawMessage }
}

func parseRequest(body []byte) (Request, error) {
	var got wire
	if err := json.Unmarshal(body, &got); err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	r := Request{Body: body, Tools: flattenTools(got.Tools, "")}
	var text []string
	for _, m := range slices.Concat(got.Messages, got.Input, got.Contents) {
		r.addMessage(m)
		r.Tools = append(r.Tools, flattenTools(m.Tools, "")...)
		text = append(text, collectStrings(m.Content, m.Parts, m.Output)...)
	}
	r.Text = strings.Join(text, "\n")
	return r, nil
}

func flattenTools(offered []wireTool, namespace string) []Tool {
	var all []Tool
	for _, t := range offered {
		switch name := t.Name + t.Function.Name; {
		case t.Type == toolSearch:
			all = append(all, Tool{Name: toolSearch})
		case len(t.Tools) > 0:
			all = append(all, flattenTools(t.Tools, name)...)
		case name != "":
			all = append(all, Tool{Namespace: namespace, Name: name})
		}
		all = append(all, flattenTools(t.FunctionDeclarations, namespace)...)
	}
	return all
}

// addMessage updates the request with an entry of the conversation.
func (r *Request) addMessage(m message) {
	if m.Role == "tool" || strings.HasSuffix(m.Type, "_call_output") {
		r.addResult(m.Content, m.Output)
		return
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil && m.Role == "user" {
		r.Prompt = text
		return
	}
	var blocks []message
	if json.Unmarshal(slices.Concat(m.Content, m.Parts), &blocks) != nil {
		return
	}
	for _, b := range blocks {
		switch {
		case b.Type == "tool_result":
			r.addResult(b.Content)
		case b.FunctionResponse != nil:
			r.addResult(b.FunctionResponse.Response)
		case m.Role == "user" && b.Text != "":
			r.Prompt = b.Text
		}
	}
}

// findTool finds a tool by its server's name for it.
func (r *Request) findTool(name string) (Tool, bool) {
	i := slices.IndexFunc(r.Tools, func(t Tool) bool { return hasServerName(t.Name, name) })
	if i < 0 {
		return Tool{}, false
	}
	return r.Tools[i], true
}

// toolSearch is the type of the tool by which OpenAI's models find tools that are held back. This
// package also uses it as the tool's name.
const toolSearch = "tool_search"

// findSearchTool returns the tool that finds a held back tool, and the query for it. The query is
// "" if the agent offers no search.
func (r *Request) findSearchTool(name string) (t Tool, query string) {
	if t, ok := r.findTool(toolSearch); ok {
		return t, name
	}
	if t, ok := r.findTool("ToolSearch"); ok && r.listedName(name) != "" {
		return t, "select:" + r.listedName(name)
	}
	return t, ""
}

// listedName returns a tool's whole name if the conversation lists it alone on a line, or "".
func (r *Request) listedName(name string) string {
	for line := range strings.Lines(r.Text) {
		if line = strings.TrimSpace(line); hasServerName(line, name) {
			return line
		}
	}
	return ""
}

// hasServerName reports whether an agent's whole name of a tool is the server's name, alone or
// after a prefix.
func hasServerName(whole, name string) bool {
	prefix, ok := strings.CutSuffix(whole, name)
	return ok && (prefix == "" || strings.HasSuffix(prefix, "_") || strings.HasSuffix(prefix, "-"))
}

// newCall makes a call of a tool in answer to this request.
func (r *Request) newCall(t Tool, args map[string]any) (call, error) {
	if args == nil {
		args = map[string]any{}
	}
	text, err := json.Marshal(args)
	if err != nil {
		return call{}, fmt.Errorf("arguments of %s: %w", t.Name, err)
	}
	id := fmt.Sprintf("call_%d", r.Calls+1)
	return call{name: t.Name, namespace: t.Namespace, id: id, args: string(text)}, nil
}

func (r *Request) addResult(answer ...json.RawMessage) {
	r.Calls++
	r.Result = strings.Join(collectStrings(answer...), "\n")
}

// collectStrings returns all strings in JSON values except the names of types.
func collectStrings(values ...json.RawMessage) []string {
	var all []string
	for _, raw := range values {
		var v any
		if len(raw) > 0 && json.Unmarshal(raw, &v) == nil {
			all = appendStrings(all, v)
		}
	}
	return all
}

func appendStrings(all []string, v any) []string {
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case []any:
		for _, e := range v {
			all = appendStrings(all, e)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "type" {
				all = appendStrings(all, v[key])
			}
		}
	}
	return all
}
