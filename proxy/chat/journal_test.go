package chat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
)

// disk is a file of a journal: what was written, and how much of it is on the disk.
type disk struct {
	bytes.Buffer
	synced  int
	room    int // bytes that fit, 0 for all
	clipped error
}

func (d *disk) WriteAt(p []byte, at int64) (int, error) {
	if int(at) != d.Len() {
		return 0, errors.New("not at the end")
	}
	if d.room > 0 && d.Len()+len(p) > d.room {
		d.Write(p[:max(0, d.room-d.Len())])
		return 0, syscall.ENOSPC // as os.File does, however much it wrote
	}
	return d.Write(p)
}

func (d *disk) Sync() error { d.synced = d.Len(); return nil }

func (d *disk) Truncate(size int64) error {
	if d.clipped == nil {
		d.Buffer.Truncate(int(size))
	}
	return d.clipped
}

// lines returns the file's lines, in words; each is whole.
func (d *disk) lines(t *testing.T, onDisk bool) (all []string) {
	t.Helper()
	text := d.String()
	if onDisk {
		text = text[:d.synced]
	}
	for line := range strings.Lines(text) {
		var e chat.Entry
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		require.False(t, e.Time.IsZero())
		switch {
		case e.Item != nil:
			all = append(all, e.Item.Kind+" "+e.Item.Author+": "+e.Item.Text)
		case e.Intent != nil && e.Intent.Interrupt:
			all = append(all, "interrupt by "+e.Intent.By)
		case e.Intent != nil:
			all = append(all, "answer "+e.Intent.Request+" by "+e.Intent.By+" "+e.Intent.Answer.Verdict)
		case e.Prompt != nil:
			all = append(all, strings.TrimSpace("the prompt is "+e.Prompt.Fate+" "+e.Prompt.Why))
		case e.Request != nil:
			all = append(all, "request "+e.Request.ID)
		case e.Closed != nil:
			all = append(all, "closed "+e.Closed.ID+" by "+e.Closed.By)
		case e.Turn != nil:
			all = append(all, "turn "+e.Turn.Outcome)
		case e.Conversation != "":
			all = append(all, "conversation "+e.Conversation)
		default:
			all = append(all, "state "+e.State)
		}
	}
	return all
}

// watched is a driver that looks at the disk before it acts.
type watched struct {
	*fake
	look func(what string)
}

func (w *watched) Send(p chat.Prompt) error        { w.look("send"); return w.fake.Send(p) }
func (w *watched) Interrupt(may chat.MayAct) error { w.look("interrupt"); return w.fake.Interrupt(may) }
func (w *watched) SetOption(n, v string) error     { w.look("set"); return w.fake.SetOption(n, v) }

func (w *watched) Answer(id string, a chat.Answer) error {
	w.look("answer")
	return w.fake.Answer(id, a)
}

func journaled(t *testing.T, d *disk) (*chat.Session, *watched, map[string]string) {
	t.Helper()
	before := map[string]string{} // the last line on the disk before each act
	w := &watched{fake: &fake{}, look: func(what string) {
		if all := d.lines(t, true); len(all) > 0 {
			before[what] = all[len(all)-1]
		}
	}}
	s := chat.New("claude", w)
	s.KeepJournal(chat.NewJournal(d))
	require.NoError(t, s.Start())
	w.report(chat.Ready{Conversation: "c1"})
	w.report(chat.SettingsChanged{Settings: []chat.Setting{{Name: "model"}}})
	return s, w, before
}

// A person's act is on the disk before the agent gets it, and its outcome follows.
func TestTheJournalIsAhead(t *testing.T) {
	d := &disk{}
	s, f, before := journaled(t, d)
	require.NoError(t, s.Send("you", "go"))
	f.report(chat.PromptAccepted{Prompt: f.sent[0].ID})
	require.NoError(t, s.Send("you", "and more"))
	f.report(chat.TextAppended{Piece: chat.Piece{ID: "t1", Text: "I "}})
	f.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, ID: "t1", Text: "I <did>"}})
	f.report(approval("a1"))
	require.NoError(t, s.Answer("a1", "ada", chat.Answer{Verdict: chat.Once}))
	require.NoError(t, s.Set("you", "model", "tiny"))
	require.NoError(t, s.Interrupt("you"))
	f.report(chat.PromptDropped{Prompt: f.sent[1].ID})
	f.report(chat.Finished{Turn: chat.Turn{Outcome: chat.Interrupted}})
	f.fails = errors.New("broken pipe")
	require.Error(t, s.Send("you", "lost"))
	f.fails = nil
	long := strings.Repeat("x", 300<<10)
	require.NoError(t, s.Send("you", long))
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Send("you", "too late"), chat.ErrOver)
	require.NoError(t, s.CloseJournal())
	require.Equal(t, map[string]string{
		"send": "user you: " + long, "answer": "answer a1 by ada once", "interrupt": "interrupt by you", "set": "notice you: sets the model to tiny",
	}, before)
	require.Equal(t, []string{
		"state starting", "conversation c1", "state at prompt",
		"user you: go", "the prompt is sent", "state working", "the prompt is read", "user you: and more", "the prompt is sent",
		"text claude: I <did>", "request a1", "state wants approval", "answer a1 by ada once", "closed a1 by ada", "state working",
		"notice you: sets the model to tiny", "interrupt by you", "the prompt is unread", "notice claude: claude did not read: and more",
		"turn interrupted", "state at prompt", "user you: lost", "the prompt is not sent broken pipe", "notice claude: not sent: broken pipe",
		"user you: " + long, "the prompt is sent", "state working", "the prompt is unread", "notice claude: claude did not read: " + long[:200] + "...", "state ended",
		"user you: too late", "the prompt is not sent the agent has ended",
	}, d.lines(t, true))
}

// If the journal cannot be written, no prompt and no approval reaches the agent; refusals and
// interruptions do. The file has whole lines, and continues when there is room again.
func TestAnUnjournaledActIsNotDone(t *testing.T) {
	d := &disk{}
	s, f, _ := journaled(t, d)
	f.report(approval("a1"))
	f.report(approval("a2"))
	d.room = d.Len() + 10
	full := "the record of this conversation could not be written: no space left on device"
	require.EqualError(t, s.Send("you", "go"), full)
	require.EqualError(t, s.Answer("a1", "you", chat.Answer{Verdict: chat.Once}), full)
	require.EqualError(t, s.Set("you", "model", "tiny"), full)
	require.NoError(t, s.Answer("a2", "you", chat.Answer{}))
	require.NoError(t, s.Interrupt("you"))
	require.Equal(t, []string{"start", "refuse a2", "refuse a1", "interrupt"}, f.done())
	require.Contains(t, records(t, s), "notice claude: "+full)
	d.room = 0
	require.NoError(t, s.Send("you", "again"))
	require.Contains(t, d.lines(t, true), "user you: again")
	require.ErrorContains(t, s.CloseJournal(), "lines missing: 11: no space left on device")
}

// If half a line cannot be removed, nothing is written after it.
func TestNothingFollowsHalfALine(t *testing.T) {
	d := &disk{}
	s, f, _ := journaled(t, d)
	d.room, d.clipped = d.Len()+10, errors.New("read only")
	require.Error(t, s.Send("you", "go"))
	torn := d.Len()
	d.room = 0
	require.ErrorContains(t, s.Send("you", "again"), "its last line is incomplete")
	require.Equal(t, torn, d.Len())
	require.Equal(t, []string{"start"}, f.done())
}
