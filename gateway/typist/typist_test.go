package typist_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/typist"
	"terminalproxy/protocol"
)

// keyboard is a terminal that keeps a list of what was typed.
type keyboard struct {
	frame  protocol.Frame
	inputs []protocol.Input
	steps  []string
	// settles is how the screen comes to rest, nil for at once.
	settles func(m *protocol.Wait) (*protocol.WaitResult, error)
	answer  func(n int, in *protocol.Input) (*protocol.InputResult, error)
}

func (k *keyboard) Read(context.Context, *protocol.Read) (*protocol.ReadResult, error) {
	return &protocol.ReadResult{Frame: &k.frame}, nil
}

func (k *keyboard) Input(_ context.Context, in *protocol.Input) (*protocol.InputResult, error) {
	k.inputs = append(k.inputs, *in)
	k.steps = append(k.steps, fmt.Sprintf("%s %q %d", in.InputKind, in.Data, in.SettleMs))
	if k.answer != nil {
		if got, err := k.answer(len(k.inputs), in); got != nil || err != nil {
			return got, err
		}
	}
	return &protocol.InputResult{Status: protocol.StatusWritten, WrittenBytes: len(in.Data), Seq: k.frame.Seq + uint64(len(k.inputs))}, nil
}

func (k *keyboard) Wait(_ context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
	k.steps = append(k.steps, fmt.Sprintf("quiet %d", m.Until.QuietMs))
	if k.settles != nil {
		return k.settles(m)
	}
	return &protocol.WaitResult{Met: true, Seq: m.AfterSeq}, nil
}

// ledger is what happened as a sentence: the inputs with kind, data and settle time, and the waits between them.
func (k *keyboard) ledger() string { return strings.Join(k.steps, ", ") }

func soon() time.Time { return time.Now().Add(time.Minute) }

func TestOrderAndKinds(t *testing.T) {
	tests := []struct {
		name   string
		text   typist.Text
		modes  protocol.Modes
		ledger string
	}{
		{"text", typist.Text{Text: "ls"}, protocol.Modes{}, `text "ls" 100`},
		{"text, keys and Enter", typist.Text{Text: "ls", Keys: []string{"left", "ctrl-a"}, Enter: true}, protocol.Modes{}, `text "ls" 0, quiet 250, keys "left ctrl-a" 0, quiet 250, keys "enter" 100`},
		{"text gets time before its Enter", typist.Text{Text: "ls", Enter: true}, protocol.Modes{}, `text "ls" 0, quiet 250, keys "enter" 100`},
		{"lines as a paste", typist.Text{Text: "a\nb", Enter: true}, protocol.Modes{BracketedPaste: true}, `paste "a\nb" 0, quiet 250, keys "enter" 100`},
		{"lines as text where there is no paste", typist.Text{Text: "a\nb"}, protocol.Modes{}, `text "a\nb" 100`},
		{"a line that ends is a line and Enter", typist.Text{Text: "ls\n"}, protocol.Modes{BracketedPaste: true}, `text "ls" 0, quiet 250, keys "enter" 100`},
		{"once", typist.Text{Text: "ls\r\n", Enter: true}, protocol.Modes{}, `text "ls" 0, quiet 250, keys "enter" 100`},
		{"an end alone is Enter", typist.Text{Text: "\n"}, protocol.Modes{BracketedPaste: true}, `keys "enter" 100`},
		{"an end before keys", typist.Text{Text: "ls\n", Keys: []string{"up"}}, protocol.Modes{}, `text "ls\n" 0, quiet 250, keys "up" 100`},
		{"keys written as what they type", typist.Text{Keys: []string{"a", " ", "\t", "\n", "ctrl-x ctrl-s"}}, protocol.Modes{}, `keys "a space tab enter ctrl-x ctrl-s" 100`},
		{"old line ends", typist.Text{Text: "a\rb"}, protocol.Modes{BracketedPaste: true}, `paste "a\rb" 100`},
		{"one line stays text", typist.Text{Text: "a"}, protocol.Modes{BracketedPaste: true}, `text "a" 100`},
		{"a long line as a paste", typist.Text{Text: strings.Repeat("x", 257)}, protocol.Modes{BracketedPaste: true}, `paste "` + strings.Repeat("x", 257) + `" 100`},
		{"a shorter one as text", typist.Text{Text: strings.Repeat("x", 256)}, protocol.Modes{BracketedPaste: true}, `text "` + strings.Repeat("x", 256) + `" 100`},
		{"paste", typist.Text{Paste: "a"}, protocol.Modes{}, `paste "a" 100`},
		{"Enter alone", typist.Text{Enter: true}, protocol.Modes{}, `keys "enter" 100`},
		{"the mouse comes first", typist.Text{Mouse: &typist.Mouse{Act: "click", On: "Name"}, Text: "ada", Keys: []string{"tab"}, Enter: true}, protocol.Modes{}, `mouse "click" 0, quiet 250, text "ada" 0, quiet 250, keys "tab" 0, quiet 250, keys "enter" 100`},
		{"a click gets time before its Enter", typist.Text{Mouse: &typist.Mouse{Act: "click", On: "Name"}, Enter: true}, protocol.Modes{}, `mouse "click" 0, quiet 250, keys "enter" 100`},
		{"the mouse alone", typist.Text{Mouse: &typist.Mouse{Act: "wheel-down*3"}}, protocol.Modes{}, `mouse "wheel-down*3" 100`},
		{"the last part does not settle", typist.Text{Text: "a", Enter: true, NoSettle: true}, protocol.Modes{}, `text "a" 0, quiet 250, keys "enter" 0`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := &keyboard{frame: protocol.Frame{Seq: 7, Screen: protocol.Screen{Modes: tt.modes}}}
			tt.text.SettleMs, tt.text.Deadline = 100, soon()
			typed, err := typist.Type(t.Context(), k, tt.text)
			require.NoError(t, err)
			require.Nil(t, typed.Failed())
			require.Equal(t, tt.ledger, k.ledger())
			require.Equal(t, 7+uint64(len(k.inputs))-1, typed.After, "the revision before the last part")
		})
	}
}

// TestARestlessScreenDoesNotTakeTheTimeOfWhatFollows: behind a spinner no text ever settles.
func TestARestlessScreenDoesNotTakeTheTimeOfWhatFollows(t *testing.T) {
	k := &keyboard{frame: protocol.Frame{Seq: 7}}
	k.settles = func(m *protocol.Wait) (*protocol.WaitResult, error) {
		require.EqualValues(t, 8, m.AfterSeq, "quiet counts from the text on")
		require.Equal(t, int64(250+1500), m.TimeoutMs)
		return &protocol.WaitResult{Seq: 90}, nil
	}
	typed, err := typist.Type(t.Context(), k, typist.Text{Text: "ls", Enter: true, SettleMs: 100, Deadline: soon()})
	require.NoError(t, err)
	require.Len(t, k.inputs, 2)
	require.EqualValues(t, 90, typed.After, "what the text did came before Enter")

	k.inputs, k.settles = nil, func(*protocol.Wait) (*protocol.WaitResult, error) { return nil, errors.New("hidden") }
	typed, err = typist.Type(t.Context(), k, typist.Text{Text: "ls", Enter: true, SettleMs: 100, Deadline: soon()})
	require.NoError(t, err)
	require.Nil(t, typed.Failed())
	require.Len(t, k.inputs, 2, "the second part speaks for itself")
}

// TestEnterWaitsForTheTextToBeRead: as long as the program goes on reading.
func TestEnterWaitsForTheTextToBeRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		unread []int // at the end of each wait
		waits  int
	}{
		{"read", []int{0}, 1},
		{"it takes its time", []int{900, 400, 0}, 3},
		{"it reads no more", []int{900, 400, 400, 300}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, waits := &keyboard{frame: protocol.Frame{Seq: 7}}, 0
			k.settles = func(m *protocol.Wait) (*protocol.WaitResult, error) {
				waits++
				return &protocol.WaitResult{Seq: m.AfterSeq + 1, Frame: &protocol.Frame{Activity: &protocol.Activity{UnreadBytes: c.unread[waits-1]}}}, nil
			}
			typed, err := typist.Type(t.Context(), k, typist.Text{Text: "ls", Enter: true, SettleMs: 100, Deadline: soon()})
			require.NoError(t, err)
			require.Equal(t, c.waits, waits)
			require.Len(t, k.inputs, 2)
			require.EqualValues(t, 8+waits, typed.After)
		})
	}
}

// TestEnterWaitsForAProgramThatHasYetToLook: it has read the text, shows nothing of it and is busy; one that stays so gets a
// bounded time.
func TestEnterWaitsForAProgramThatHasYetToLook(t *testing.T) {
	for busy, looks := range map[int]int{0: 1, 2: 3, 100: 7} {
		k := &keyboard{}
		left := busy
		k.settles = func(m *protocol.Wait) (*protocol.WaitResult, error) {
			state := "waiting"
			if m.Until.Changed {
				return &protocol.WaitResult{Seq: m.AfterSeq}, nil
			}
			if left--; left >= 0 {
				state = "busy"
			}
			return &protocol.WaitResult{Met: true, Seq: m.AfterSeq, Frame: &protocol.Frame{Activity: &protocol.Activity{State: state}}}, nil
		}
		_, err := typist.Type(t.Context(), k, typist.Text{Text: "ls", Enter: true, Deadline: soon()})
		require.NoError(t, err)
		require.Equal(t, looks, strings.Count(k.ledger(), "quiet 250"), k.ledger())
		require.True(t, strings.HasSuffix(k.ledger(), `keys "enter" 0`), k.ledger())
	}
}

func TestWhetherTheScreenReactedIsSaid(t *testing.T) {
	frame := func(seq uint64) *protocol.Frame { return &protocol.Frame{Seq: seq} }
	exited := frame(7)
	exited.Activity = &protocol.Activity{State: "exited"}
	hidden := frame(7)
	hidden.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser}
	for _, c := range []struct {
		name   string
		from   uint64
		unread int
		frame  *protocol.Frame
		want   string
	}{
		{"it did", 7, 0, frame(8), ""},
		{"it did not", 7, 0, frame(7), "the screen did not react"},
		{"not read", 7, 2, frame(7), "the screen did not react: the program has not read its input yet (2 bytes)"},
		{"echoed, not read", 7, 1, frame(8), "the program has not read its input yet (1 byte)"},
		{"a flicker", 7, 0, &protocol.Frame{Seq: 9, Screen: protocol.Screen{Hash: "h3", Title: "vim"}}, "the screen looks as before"},
		{"another title", 7, 0, &protocol.Frame{Seq: 9, Screen: protocol.Screen{Hash: "h3", Title: "vim +"}}, ""},
		{"an older terminal, which does not say", 0, 0, frame(7), ""},
		{"no screen", 7, 0, nil, ""},
		{"the program ended", 7, 0, exited, ""},
		{"hidden", 7, 0, hidden, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &keyboard{frame: protocol.Frame{Seq: 3, Screen: protocol.Screen{Hash: "h3", Title: "vim"}}}
			k.answer = func(n int, _ *protocol.Input) (*protocol.InputResult, error) {
				got := &protocol.InputResult{Status: protocol.StatusWritten, FromSeq: c.from}
				if n > 1 && c.from != 0 {
					got.FromSeq += 100 // the first counts
				}
				return got, nil
			}
			typed, err := typist.Type(t.Context(), k, typist.Text{Text: "ls", Enter: true, Deadline: soon()})
			require.NoError(t, err)
			if c.unread > 0 {
				c.frame.Activity = &protocol.Activity{State: "busy", UnreadBytes: c.unread}
			}
			require.Equal(t, c.want, typed.Odd(c.frame))
		})
	}
}

func TestOnlyTheFirstPartExpectsAndAllCarryTheEpoch(t *testing.T) {
	rev := uint64(7)
	text := typist.Text{Text: "a", Keys: []string{"up"}, Enter: true, Rev: &rev, Deadline: soon(), Mine: func(k protocol.Keyboard) bool { return k.AgentID == "a-1" }}
	for holder, epoch := range map[string]uint64{"a-1": 9, "a-2": 0} {
		k := &keyboard{frame: protocol.Frame{Keyboard: protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: holder, Epoch: 9}}}
		_, err := typist.Type(t.Context(), k, text)
		require.NoError(t, err)
		for i, in := range k.inputs {
			require.Equal(t, i == 0, in.Expect != nil)
			require.Equal(t, epoch, in.Epoch, "another's epoch is not ours to use")
			require.Positive(t, in.TimeoutMs)
		}
	}
}

func TestNothingFollowsAPartThatDidNotArrive(t *testing.T) {
	k := &keyboard{answer: func(n int, _ *protocol.Input) (*protocol.InputResult, error) {
		if n == 2 {
			return &protocol.InputResult{Status: protocol.StatusDropped, DroppedBytes: 3, Ended: protocol.ReasonReclaimed}, nil
		}
		return nil, nil
	}}
	typed, err := typist.Type(t.Context(), k, typist.Text{Text: "a", Keys: []string{"up"}, Enter: true, Deadline: soon()})
	require.NoError(t, err)
	require.Len(t, k.inputs, 2)
	require.Equal(t, protocol.ReasonReclaimed, typed.Failed().Ended)
	require.Nil(t, typed.Last())
}

func TestARefusalOnTheWireIsAReceipt(t *testing.T) {
	k := &keyboard{answer: func(int, *protocol.Input) (*protocol.InputResult, error) {
		return nil, &protocol.Error{Code: protocol.CodeNoGrant, Message: "not yours"}
	}}
	typed, err := typist.Type(t.Context(), k, typist.Text{Text: "a", Enter: true, Deadline: soon()})
	require.NoError(t, err)
	require.Equal(t, protocol.CodeNoGrant, typed.Failed().Reason)
	require.Len(t, k.inputs, 1)
}

func TestALostReceiptIsAnErrorAndSaysWhatCameBefore(t *testing.T) {
	lost := errors.New("gone")
	k := &keyboard{answer: func(n int, _ *protocol.Input) (*protocol.InputResult, error) {
		if n == 2 {
			return nil, lost
		}
		return nil, nil
	}}
	typed, err := typist.Type(t.Context(), k, typist.Text{Text: "a", Enter: true, Deadline: soon()})
	require.ErrorIs(t, err, lost)
	require.True(t, typed.Parts[0].Landed())
	require.True(t, typed.Parts[1].Unknown)
}

func TestWhatNoTerminalTakesIsRefusedBeforeTheFirstKey(t *testing.T) {
	tests := []struct {
		name string
		text typist.Text
		say  string
	}{
		{"nothing", typist.Text{}, "nothing to type"},
		{"a key without a name", typist.Text{Keys: []string{"a", ""}}, "has no name"},
		{"both", typist.Text{Text: "a", Paste: "b"}, "exclude each other"},
		{"too long", typist.Text{Text: strings.Repeat("x", 50<<10)}, "the limit is 49152"},
		{"too long on the wire", typist.Text{Text: strings.Repeat("\x01", 12<<10)}, "too much for one input"},
		{"the second part", typist.Text{Text: "ok", Keys: []string{strings.Repeat("x ", 25<<10)}}, "the limit is 49152"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := &keyboard{}
			tt.text.Deadline = soon()
			_, err := typist.Type(t.Context(), k, tt.text)
			require.ErrorContains(t, err, tt.say)
			require.Empty(t, k.inputs)
		})
	}
}

// TestTheUserGetsTime: where the grant leaves Enter to the user, the deadline moves, for the caller's own grant only.
func TestTheUserGetsTime(t *testing.T) {
	mine := func(k protocol.Keyboard) bool { return k.AgentID == "me" }
	for _, c := range []struct {
		name     string
		keyboard protocol.Keyboard
		held     time.Duration
		moved    bool
	}{
		{"type", protocol.Keyboard{AgentID: "me", Level: protocol.LevelType}, time.Hour, true},
		{"drive", protocol.Keyboard{AgentID: "me", Level: protocol.LevelDrive}, time.Hour, false},
		{"another's", protocol.Keyboard{AgentID: "other", Level: protocol.LevelType}, time.Hour, false},
		{"not wanted", protocol.Keyboard{AgentID: "me", Level: protocol.LevelType}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &keyboard{frame: protocol.Frame{Keyboard: c.keyboard}}
			typed, err := typist.Type(t.Context(), k, typist.Text{Text: "ls", Enter: true, Deadline: soon(), Held: c.held, Mine: mine})
			require.NoError(t, err)
			require.Equal(t, c.moved, typed.Held)
			for _, in := range k.inputs {
				require.Equal(t, c.moved, in.TimeoutMs > time.Minute.Milliseconds(), "%d", in.TimeoutMs)
			}
		})
	}
}

func TestNotesComeWithTheReceipts(t *testing.T) {
	k := &keyboard{answer: func(n int, _ *protocol.Input) (*protocol.InputResult, error) {
		return &protocol.InputResult{Status: protocol.StatusWritten, Notes: []string{fmt.Sprint("note ", n)}}, nil
	}}
	typed, err := typist.Type(t.Context(), k, typist.Text{Text: "ls", Enter: true, Deadline: soon()})
	require.NoError(t, err)
	require.Equal(t, []string{"note 1", "note 2"}, typed.Notes())
}
