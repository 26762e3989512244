package protocol

import "encoding/json"

// Limits of what another agent than the coding agent asks in a conversation.
const (
	MaxAskText    = 16 << 10 // all texts of a form together; in bytes
	MaxAskOptions = 32       // options of one question
)

// ChatAsk puts an approval, or questions, to the people of a conversation, for another agent than
// its coding agent: one that runs in the session's terminal without a conversation of its own, or
// beside it. It is answered by [ChatAskResult] after an answer, or when an answer has become
// impossible: a [Cancel] of it, and the end of the asker's connection, take it back.
type ChatAsk struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// AgentID and TokenID say who asks; a gateway fills both in. AgentName is for people.
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	TokenID   string `json:"tokenId,omitempty"`
	// Tool and Input are what it wants to call, and with what: any JSON.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Why is shown as its words.
	Why string `json:"why,omitempty"`
	// Allows are the verdicts of an approval that allow. With a Form, which has questions, they
	// count for nothing.
	Allows []ChatChoice   `json:"allows,omitempty"`
	Form   []ChatQuestion `json:"form,omitempty"`
}

// ChatAskResult answers a [ChatAsk]. By names the person who answered; it is "" without an answer,
// and then Why says the reason. A verdict left out of an answer allows nothing.
type ChatAskResult struct {
	RequestID string    `json:"requestId"`
	SessionID string    `json:"sessionId"`
	By        string    `json:"by,omitempty"`
	Answer    ChatReply `json:"answer"`
	Why       string    `json:"why,omitempty"`
}

func (m *ChatAsk) check() error {
	c := new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).text("agentName", m.AgentName, MaxName).
		optionalID("tokenId", m.TokenID).text("tool", m.Tool, MaxChatID).
		text("why", m.Why, MaxReason)
	if n := len(m.Input); n > MaxPrompt {
		c.fail(CodeTooLarge, "input", "is %d bytes long, the limit is %d", n, MaxPrompt)
	}
	switch {
	case len(m.Form) == 0 && m.Tool == "":
		c.fail(CodeBadMessage, "tool", "is missing, and there is no form")
	case len(m.Form) == 0 && len(m.Allows) == 0:
		c.fail(CodeBadMessage, "allows", "is missing: nothing could be allowed")
	}
	return c.checkAllows(m.Allows).checkForm(m.Form).done()
}

// checkAllows checks what could be allowed: each verdict once.
func (c *checks) checkAllows(all []ChatChoice) *checks {
	seen := map[string]bool{}
	for _, a := range all {
		c.oneOf("allows.verdict", a.Verdict, ChatOnce, ChatForSession).
			text("allows.covers", a.Covers, MaxText)
		if seen[a.Verdict] {
			c.fail(CodeBadMessage, "allows.verdict", "is %q twice", a.Verdict)
		}
		seen[a.Verdict] = true
	}
	return c
}

// checkForm checks questions: each has an id of its own, and all can be shown.
func (c *checks) checkForm(all []ChatQuestion) *checks {
	if n := len(all); n > MaxChatForm {
		c.fail(CodeTooLarge, "form", "has %d questions, the limit is %d", n, MaxChatForm)
	}
	size, seen := 0, map[string]bool{}
	for _, q := range all {
		c.required("form.id", q.ID, MaxChatID).required("form.text", q.Text, MaxText).
			text("form.header", q.Header, MaxName)
		if seen[q.ID] {
			c.fail(CodeBadMessage, "form.id", "is %.64q twice", q.ID)
		}
		seen[q.ID] = true
		if n := len(q.Options); n > MaxAskOptions {
			c.fail(CodeTooLarge, "form.options", "has %d options, the limit is %d",
				n, MaxAskOptions)
		}
		size += len(q.Text) + len(q.Header)
		for _, o := range q.Options {
			c.required("form.options.label", o.Label, MaxReason).
				text("form.options.description", o.Description, MaxReason)
			size += len(o.Label) + len(o.Description)
		}
	}
	if size > MaxAskText {
		c.fail(CodeTooLarge, "form", "has %d bytes of text, the limit is %d", size, MaxAskText)
	}
	return c
}

func (m *ChatAskResult) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		text("by", m.By, MaxName).text("why", m.Why, MaxText).checkReply(&m.Answer).done()
}
