package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/form"
	"terminalproxy/proxy/chat/stdio"
)

// askTool is the tool with which the model asks the user.
const askTool = "AskUserQuestion"

// handleControlRequest handles a request of Claude Code. It refuses at once what it does not
// understand.
func (d *Driver) handleControlRequest(_ string, b []byte) error {
	var m struct {
		ID      string `json:"request_id"`
		Request json.RawMessage
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m.ID == "" {
		return errors.New("a request without an id cannot be answered")
	}
	var kind struct{ Subtype string }
	if err := json.Unmarshal(m.Request, &kind); err != nil {
		return errors.Join(err, d.replyError(m.ID, "the request could not be read"))
	}
	switch kind.Subtype {
	case "can_use_tool":
		if err := d.handleToolPermission(m.ID, m.Request); err != nil {
			refusal := chat.Answer{Words: "The request could not be shown to the user."}
			return errors.Join(err, d.sendReply(m.ID, ask{}.replyFor(refusal)))
		}
		return nil
	case "elicitation":
		if err := d.handleElicitation(m.ID, m.Request); err != nil {
			decline := map[string]any{"action": "decline"}
			return errors.Join(fmt.Errorf("declined a form: %w", err), d.sendReply(m.ID, decline))
		}
		return nil
	}
	err := d.replyError(m.ID, "unsupported request")
	d.reportNotice("asked for something unknown, which was refused: %s",
		stdio.ShortenText(kind.Subtype))
	return err
}

// replyError answers a request with an error.
func (d *Driver) replyError(id, why string) error {
	return d.program.Send(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "error", "request_id": id, "error": why,
	}})
}

// handleElicitation asks the user to fill in a form, for an MCP server.
func (d *Driver) handleElicitation(id string, b []byte) error {
	var m struct {
		Server          string `json:"mcp_server_name"`
		Message, Mode   string
		RequestedSchema json.RawMessage `json:"requested_schema"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m.Mode != "" && m.Mode != "form" {
		return fmt.Errorf("it is of the kind %.40q", m.Mode)
	}
	f, err := form.Read(m.Message, m.RequestedSchema)
	if err != nil {
		return err
	}
	why := "for the MCP server " + m.Server
	if f.Why != "" {
		why += ": " + f.Why
	}
	if err := d.keepAsk(id, ask{form: f}); err != nil {
		return err
	}
	request := chat.Request{ID: id, Why: why, Form: f.Questions, Check: f.Check}
	d.report(chat.RequestOpened{Request: request})
	return nil
}

// handleToolPermission asks the user whether a tool may run, or the questions of the model.
func (d *Driver) handleToolPermission(id string, b []byte) error {
	var m struct {
		Tool        string `json:"tool_name"`
		Input       json.RawMessage
		Description string
		Suggestions []suggestion `json:"permission_suggestions"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	r, open, err := newToolRequest(id, m.Tool, m.Input, m.Suggestions)
	if err != nil {
		return err
	}
	r.Why = m.Description
	if err := d.keepAsk(id, open); err != nil {
		return err
	}
	d.report(chat.RequestOpened{Request: r})
	return nil
}

// keepAsk stores what the answer will need. It refuses an id that is already open: the answer to
// the shown request would allow another one.
func (d *Driver) keepAsk(id string, open ask) error {
	d.mu.Lock()
	_, known := d.asks[id]
	if !known {
		d.asks[id] = open
	}
	d.mu.Unlock()
	if !known {
		return nil
	}
	d.report(chat.Withdrawn{ID: id, Why: "asked twice"})
	d.mu.Lock()
	delete(d.asks, id)
	d.mu.Unlock()
	return fmt.Errorf("refused: it used the id of an earlier request: %.60q", id)
}

// newToolRequest makes the request to the user: whether a tool may run, or the model's questions.
func newToolRequest(
	id, tool string, input json.RawMessage, offered []suggestion,
) (r chat.Request, open ask, err error) {
	if tool == "" || !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) {
		return r, open, errors.New("it does not name the tool, or say what the tool should do")
	}
	open, r = ask{input: input}, chat.Request{ID: id, Tool: tool, Input: input}
	if tool == askTool {
		r.Form, open.texts, err = parseQuestions(input)
		return r, open, err
	}
	r.Allows = []chat.Choice{{Verdict: chat.Once}}
	if covers, allow := sessionRules(offered); allow != nil {
		open.allow = allow
		r.Allows = append(r.Allows, chat.Choice{Verdict: chat.ForSession, Covers: covers})
	}
	return r, open, nil
}

// parseQuestions reads the model's questions, and returns their texts by id as well.
func parseQuestions(
	input json.RawMessage,
) (all []chat.Question, texts map[string]string, err error) {
	var m struct {
		Questions []struct {
			Question, Header string
			MultiSelect      bool
			Options          []chat.Option
		}
	}
	if err := json.Unmarshal(input, &m); err != nil {
		return nil, nil, err
	}
	texts = map[string]string{}
	known := map[string]bool{}
	for i, q := range m.Questions {
		if q.Question == "" || known[q.Question] {
			return nil, nil, errors.New("a question without words, or the same one twice")
		}
		id := fmt.Sprintf("q%d", i+1)
		known[q.Question], texts[id] = true, q.Question
		all = append(all, chat.Question{
			ID: id, Header: q.Header, Text: q.Question, Many: q.MultiSelect, Options: q.Options,
		})
	}
	if len(all) == 0 {
		return nil, nil, errors.New("no questions")
	}
	return all, texts, nil
}

// suggestion is a change of the permissions that Claude Code offers with an approval.
type suggestion struct {
	Type     string `json:"type"`
	Behavior string `json:"behavior"`
	Rules    []rule `json:"rules"`
	// Destination is where the change is kept.
	Destination string `json:"destination"`
}

type rule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

func (r rule) String() string {
	if r.Content == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Content + ")"
}

// sessionRules returns the offered rules that allow similar calls until the session ends, in words
// and for Claude Code; nil if it offers no such rules. It leaves out wider changes, such as modes
// and directories, because one line cannot explain them.
func sessionRules(offered []suggestion) (covers string, allow json.RawMessage) {
	var rules []suggestion
	var names []string
	for _, s := range offered {
		if s.Type == "addRules" && s.Behavior == "allow" && len(s.Rules) > 0 {
			s.Destination = "session"
			rules = append(rules, s)
			for _, r := range s.Rules {
				names = append(names, r.String())
			}
		}
	}
	if rules == nil {
		return "", nil
	}
	allow, err := json.Marshal(rules)
	if err != nil {
		return "", nil
	}
	return strings.Join(names, ", "), allow
}

func (d *Driver) handleCancel(_ string, b []byte) error {
	var m struct {
		ID string `json:"request_id"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	d.mu.Lock()
	delete(d.asks, m.ID)
	d.mu.Unlock()
	d.report(chat.Withdrawn{ID: m.ID, Why: "claude took it back"})
	return nil
}
