package protocol

import "encoding/json"

// Limits of a [ChatAsk].
const (
	MaxAskText    = 16 << 10 // all texts of a form together; in bytes
	MaxAskOptions = 32       // options of one question
)

// ChatAsk puts an approval, or questions, to the people of a conversation, for an agent other than
// its coding agent: one that runs in the session's terminal without a conversation, or beside it.
// It is answered by [ChatAskResult] after an answer, or when no answer is possible. A [Cancel], and
// the end of the asker's connection, withdraw it.
type ChatAsk struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// AgentID and TokenID identify the asker; a gateway fills both in. AgentName is for people.
	AgentID   string `json:"agentId,omitempty"`
	AgentName string `json:"agentName,omitempty"`
	TokenID   string `json:"tokenId,omitempty"`
	// Tool and Input are the tool that the asker wants to call and its arguments, any JSON.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Why is shown as a quotation of the asker.
	Why string `json:"why,omitempty"`
	// Allows are the verdicts that allow the call. They have no effect with a Form.
	Allows []ChatChoice   `json:"allows,omitempty"`
	Form   []ChatQuestion `json:"form,omitempty"`
}

// ChatAskResult answers a [ChatAsk]. By names the person who answered. If nobody did, By is "" and
// Why is the reason. A missing verdict refuses the call.
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

// checkAllows checks that each verdict is known and occurs at most once.
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

// checkForm checks that each question has a unique id and that all of them can be shown.
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
