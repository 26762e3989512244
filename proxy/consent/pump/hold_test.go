package pump_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/view/corpus"
)

// hold makes the user confirm the job, as the session does: a confirmed job passes when it is
// prepared again without a change. It returns the lines that the job saw.
func (w *world) hold(j *job) *[]pump.Line {
	var lines []pump.Line
	asked := ""
	j.Hold = func(now time.Time, pieces []pump.Piece, line pump.Line) (bool, error) {
		lines = append(lines, line)
		shown := ""
		for _, p := range pieces {
			shown += string(p.Bytes)
		}
		if shown == asked {
			return false, nil
		}
		asked = shown
		return true, w.ctl.AskConfirmation(now, control.Confirmation{Keys: shown, Until: now.Add(30 * time.Second)})
	}
	return &lines
}

// confirmHeld makes the user confirm what has been on the screen long enough.
func (w *world) confirmHeld() {
	w.ctl.NoteShown(time.Now(), w.ctl.Shown().Turn)
	w.sleep(question.MinShownUnexpected)
	w.press("\x07")
}

// The conditions are checked when the first byte is written; bytes other than those that the user
// saw are held again.
func TestConfirmedInputIsPreparedAnew(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		changed := errors.New("the screen changed")
		var answers []func([]pump.Piece, error)
		prepare := func(_ []pump.Piece, answer func([]pump.Piece, error)) { answers = append(answers, answer) }
		j := w.job("a\r")
		w.hold(j)
		j.Prepare = prepare
		w.offer(j)
		answers[0]([]pump.Piece{{Bytes: []byte("a\r")}}, nil)
		synctest.Wait()
		w.confirmHeld()
		require.Len(t, answers, 2)
		answers[1]([]pump.Piece{{Bytes: []byte("b\r")}}, nil) // another encoding
		synctest.Wait()
		require.Empty(t, w.written())
		require.Equal(t, "b\r", w.ctl.State(time.Now()).Pending.Keys)
		w.sleep(time.Second) // otherwise it would be the first press once more
		w.confirmHeld()
		require.Len(t, answers, 3)
		answers[2](nil, changed)
		synctest.Wait()
		require.ErrorIs(t, j.receipt(t).Err, changed)
		require.Empty(t, w.written())
	})
}

func TestInputThatCannotBeHeldIsRefused(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		nobody := errors.New("nobody is there")
		j := w.job("ls\r")
		j.Hold = func(time.Time, []pump.Piece, pump.Line) (bool, error) { return false, nobody }
		w.offer(j)
		require.ErrorIs(t, j.receipt(t).Err, nobody)
		require.Empty(t, w.written())
	})
}

// With an Enter the user sees what it submits: what agents typed since the last one, also under an
// earlier grant.
func TestTheLineThatEnterSendsR47(t *testing.T) {
	for _, c := range corpus.Rows[struct {
		Name, Steps, Line string
		Mixed             bool
		Lost              int
	}](t, "enter") {
		t.Run(c.Name, func(t *testing.T) {
			inBubble(t, true, func(t *testing.T, w *world) {
				for _, s := range strings.Split(c.Steps, "|") {
					if typed, user := strings.CutPrefix(s, "user:"); user {
						w.press(typed)
						w.sleep(time.Second)
					} else if s != "" {
						w.offer(w.job(s))
					}
				}
				if w.ctl.Phase() != control.Granted {
					w.sleep(time.Minute)
					require.NoError(t, w.ctl.Request(time.Now(), control.Request{ID: "r2", Agent: control.Agent{ID: agent}, Level: protocol.LevelType}))
					w.confirmHeld()
				}
				j := w.job("\r")
				lines := w.hold(j)
				w.offer(j)
				require.Len(t, *lines, 1)
				line := (*lines)[0]
				require.Equal(t, c.Line, string(bytes.Join(line.Pieces, nil)))
				require.Equal(t, c.Mixed, line.Mixed)
				require.Equal(t, c.Lost, line.Lost)
			})
		})
	}
}

// The program that the text was for is checked right before each piece.
func TestInputIsCheckedAgainBeforeEachPieceR65(t *testing.T) {
	inBubble(t, true, func(t *testing.T, w *world) {
		var prepared []string // what was left
		looks := 0
		j := w.job("ab")
		j.Prepare = func(left []pump.Piece, answer func([]pump.Piece, error)) {
			text := ""
			for _, p := range left {
				text += string(p.Bytes)
			}
			if prepared = append(prepared, text); left == nil {
				left = []pump.Piece{{Bytes: []byte("a")}, {Bytes: []byte("b")}}
			}
			answer(left, nil)
		}
		j.Holds = func() bool { looks++; return looks != 1 && looks != 3 } // it changes before each piece
		w.offer(j)
		require.Equal(t, pump.Written, j.receipt(t).Fate)
		require.Equal(t, "ab", w.written())
		require.Equal(t, []string{"", "", "b"}, prepared)
		require.Equal(t, 4, looks)
	})
}
