package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/observe"
	"terminalproxy/protocol"
)

type sendArgs struct {
	Terminal  string   `json:"terminal"`
	Text      string   `json:"text"`
	Paste     string   `json:"paste"`
	Keys      []string `json:"keys"`
	Enter     bool     `json:"enter"`
	ExpectRev *uint64  `json:"expect_rev"`
	WaitFor   string   `json:"wait_for"`
	Value     string   `json:"value"`
	SettleMs  *int64   `json:"settle_ms"`
	TimeoutMs *int64   `json:"timeout_ms"`
}

// sending is one terminal_send under way.
type sending struct {
	*Server
	info     protocol.SessionInfo
	before   *protocol.Frame // what the screen was before the first key
	settle   int64
	deadline time.Time
	parts    []observe.Part
}

func (s *Server) send(ctx context.Context, req *mcp.CallToolRequest, in sendArgs) (string, error) {
	until, err := in.check()
	if err != nil {
		return "", err
	}
	info, err := s.find(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	free, err := s.take(ctx, info.SessionID)
	if err != nil {
		return "", err
	}
	defer free()
	before, err := s.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: info.SessionID})
	if err != nil {
		return "", err
	}
	limit := time.Duration(millis(in.TimeoutMs, defaultTimeoutMs)) * time.Millisecond
	w := &sending{Server: s, info: info, before: before.Frame, settle: millis(in.SettleMs, defaultSettleMs), deadline: time.Now().Add(limit)}
	inputs, err := w.inputs(in)
	if err != nil {
		return "", err
	}
	after, err := w.typeAll(ctx, inputs, in.WaitFor == "")
	if err != nil {
		return "", err
	}
	return w.report(ctx, req, in.WaitFor, until, after)
}

// check refuses what no terminal would take.
func (in sendArgs) check() (protocol.Until, error) {
	switch {
	case in.Text == "" && in.Paste == "" && len(in.Keys) == 0 && !in.Enter:
		return protocol.Until{}, errors.New("there is nothing to type: give text, paste, keys or enter")
	case in.Text != "" && in.Paste != "":
		return protocol.Until{}, errors.New("text and paste exclude each other: send them in two calls")
	case in.WaitFor == "" && in.Value != "":
		return protocol.Until{}, errors.New("value belongs to wait_for")
	case in.WaitFor == "":
		return protocol.Until{}, nil
	}
	return observe.Until(in.WaitFor, in.Value)
}

// inputs is what to send, in order: text or paste, then keys, then Enter.
func (w *sending) inputs(in sendArgs) ([]*protocol.Input, error) {
	var all []*protocol.Input
	add := func(what string, kind protocol.InputKind, data string) {
		w.parts = append(w.parts, observe.Part{What: what})
		all = append(all, &protocol.Input{SessionID: w.info.SessionID, InputKind: kind, Data: data, SettleMs: w.settle})
	}
	switch {
	case in.Paste != "":
		add(observe.Text("paste", in.Paste), protocol.InputPaste, in.Paste)
	case strings.Contains(in.Text, "\n") && w.before.Screen.Modes.BracketedPaste:
		// Line by line the program would act on each Enter; as a paste it takes the lines as one text.
		add(observe.Text("text, as a paste", in.Text), protocol.InputPaste, in.Text)
	case in.Text != "":
		add(observe.Text("text", in.Text), protocol.InputText, in.Text)
	}
	if len(in.Keys) > 0 {
		keys := strings.Join(in.Keys, " ")
		add("keys "+observe.Keys(keys), protocol.InputKeys, keys)
	}
	if in.Enter {
		add("Enter", protocol.InputKeys, "enter")
		observe.BeforeEnter(all)
	}
	all[0].Expect = expectRev(in.ExpectRev)
	if k := w.before.Keyboard; k.Holder == protocol.HolderAgent && k.AgentID == w.me() {
		for _, input := range all {
			input.Epoch = k.Epoch // a part that comes too late must not fall under a later grant
		}
	}
	return all, observe.CheckInputs(all)
}

func expectRev(rev *uint64) *protocol.Expect {
	if rev == nil {
		return nil
	}
	return &protocol.Expect{Seq: rev}
}

// typeAll sends the inputs one after another as long as each arrives. It returns the revision that was the newest before
// the last of them.
func (w *sending) typeAll(ctx context.Context, inputs []*protocol.Input, settleLast bool) (after uint64, err error) {
	after = w.before.Seq
	for i, input := range inputs {
		if last := i == len(inputs)-1; last && !settleLast {
			input.SettleMs = 0
		}
		input.TimeoutMs = w.left()
		got, err := w.cfg.Terminals.Input(ctx, input)
		refused, isRefusal := errors.AsType[*protocol.Error](err)
		switch {
		case isRefusal:
			got = &protocol.InputResult{Status: protocol.StatusRefused, Reason: refused.Code, Message: refused.Message}
		case err != nil:
			return 0, fmt.Errorf("%w\n%s", err, observe.Receipt(w.parts))
		}
		w.parts[i].Result = got
		if !w.parts[i].Landed() {
			return after, nil
		}
		if i < len(inputs)-1 && got.Seq > after {
			after = got.Seq
		}
	}
	return after, nil
}

// left is the rest of the time in milliseconds, at least 1: 0 would be no limit.
func (w *sending) left() int64 { return max(1, time.Until(w.deadline).Milliseconds()) }

// report is the answer: the receipt, and what the screen became.
func (w *sending) report(ctx context.Context, req *mcp.CallToolRequest, waitFor string, until protocol.Until, after uint64) (string, error) {
	receipt := observe.Receipt(w.parts)
	if failed := w.failed(); failed != nil {
		return "", w.failure(ctx, failed, receipt)
	}
	frame := w.parts[len(w.parts)-1].Result.Frame
	if waitFor != "" {
		got, settled, err := w.await(ctx, req, &protocol.Wait{SessionID: w.info.SessionID, Until: until, AfterSeq: after, TimeoutMs: w.left()}, waitFor)
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, receipt)
		}
		receipt += "\n" + w.matched(got, until)
		frame = settled
	} else if frame != nil && !frame.Settled {
		receipt += "\nthe screen was still changing when the time was over"
	}
	return receipt + "\n" + w.now(ctx, frame), nil
}

// failed is the receipt of the part that did not reach the program, nil if all did.
func (w *sending) failed() *protocol.InputResult {
	for _, p := range w.parts {
		if p.Result != nil && !p.Landed() {
			return p.Result
		}
	}
	return nil
}

// failure is the error of an input that did not arrive whole, with the screen where that helps to decide what now.
func (w *sending) failure(ctx context.Context, got *protocol.InputResult, receipt string) error {
	text := observe.Refusal(got.Reason, got.Message)
	advice := next(got.Reason)
	if got.Status == protocol.StatusDropped {
		text = "control ended while you typed: " + observe.Ended(got.Ended)
		advice = "look before anything else; if you still need the keyboard, call terminal_request_control"
	}
	if advice != "" {
		text += "; " + advice
	}
	text += "\n" + receipt
	switch got.Reason { //nolint:exhaustive // after these there is no screen to show, or it does not matter
	case protocol.CodeBlackout, protocol.CodeNoSession, protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeNoGrant, protocol.CodeBadMessage, protocol.CodeReservedKey:
		return errors.New(text)
	}
	return errors.New(text + "\n" + w.now(ctx, got.Frame))
}

// now is the screen after typing: the rows that changed where saying those is shorter, else all of it.
func (w *sending) now(ctx context.Context, f *protocol.Frame) string {
	lines, known := observe.Screen(w.before, f)
	if !known {
		got, err := w.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: w.info.SessionID})
		if err != nil {
			return "the screen could not be read: " + explain(err)
		}
		f, lines = got.Frame, got.Frame.Screen.Lines
	}
	header := w.header(w.info, f) + "\n"
	changed, shorter := protocol.Diff(w.before.Screen.Lines, lines)
	switch {
	case shorter && len(changed) == 0:
		return header + fmt.Sprintf("no row changed since rev %d", w.before.Seq)
	case shorter:
		return header + w.changed(changed, w.before.Seq)
	}
	return header + w.whole(lines)
}
