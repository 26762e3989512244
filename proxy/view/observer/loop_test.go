package observer

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/view/snapshot"
)

// runStage plays on a stage whose observer runs, in a bubble.
func runStage(t *testing.T, play func(t *testing.T, s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 20, 3)
		go s.Run() // Stop
		defer s.Stop()
		play(t, s)
	})
}

// feedOutput feeds output that the copier passes on.
func (s *stage) feedOutput(out string) {
	s.Feed([]byte(out))
	s.Wake()
}

// publishedRows returns what was published since the last call: the first row of each frame, with a
// star if it is settled.
func (s *stage) publishedRows() (rows []string) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.frames {
		row := f.Screen.Lines[0]
		if f.Settled {
			row += "*"
		}
		rows = append(rows, row)
	}
	s.frames = nil
	return rows
}

// countLooks returns how often the program was looked at.
func (s *stage) countLooks() int {
	synctest.Wait()
	return s.looks
}

// openWait opens a wait, and returns a channel that says how it ended.
func (s *stage) openWait(u protocol.Until) <-chan snapshot.Result {
	c, err := snapshot.Compile(u)
	require.NoError(s, err)
	ended := make(chan snapshot.Result, 1)
	s.Call(func(now time.Time) {
		w := snapshot.Wait{ID: "w", Condition: c, Deadline: now.Add(time.Hour), Done: func(r snapshot.Result) { ended <- r }}
		s.OpenWait(now, u.Waiting, w, func(err error) { require.NoError(s, err) })
	})
	return ended
}

func TestPostsFollowEarlierOutput(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		row := ""
		s.Feed([]byte("before"))
		require.True(t, s.Call(func(time.Time) { row = s.rowText(0) }))
		require.Equal(t, "before", row)
		s.Feed([]byte(" and after"))
		require.True(t, s.Post(func(time.Time) { row = s.rowText(0) }))
		s.Stop()
		require.Equal(t, "before and after", row)
		require.False(t, s.Post(func(time.Time) { t.Error("it has ended") }))
		require.False(t, s.Call(func(time.Time) { t.Error("it has ended") }))
	})
}

// A model that is too far behind says so, and Feed never waits: what was read is on the user's
// screen.
func TestAFullSpoolSaysSo(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		held := make(chan struct{})
		s.Post(func(time.Time) { <-held })
		synctest.Wait()
		due, _, full := s.Feed(make([]byte, spoolMax))
		require.True(t, due)
		require.False(t, full)
		require.True(t, s.HasRoom())
		_, _, full = s.Feed([]byte("x"))
		require.True(t, full)
		require.False(t, s.HasRoom())
		close(held)
		synctest.Wait()
		require.True(t, s.HasRoom())
	})
}

// A post is handled between what was fed before and after it, however far the model is behind: what
// was hidden when it was printed stays hidden.
func TestPostsKeepTheirPlaceInTheOutput(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		held := make(chan struct{})
		s.Post(func(time.Time) { <-held })
		synctest.Wait()
		s.Feed([]byte("before\r\n"))
		s.Post(func(now time.Time) { s.ControlChanged(now, true) })
		s.Feed([]byte("hidden\r\n" + strings.Repeat("\n", 60)))
		s.Post(func(now time.Time) { s.ControlChanged(now, false) })
		s.Feed([]byte("after"))
		close(held)
		synctest.Wait()
		var all string
		s.Call(func(time.Time) {
			for i := range s.model.HistoryLen() {
				all += s.model.HistoryText(i) + "|"
			}
			all += s.model.RowText(s.model.Cursor().Row)
		})
		require.Contains(t, all, "before|")
		require.NotContains(t, all, "hidden")
		require.Contains(t, all, "after")
	})
}

// Output is held back until the model is told what it needs, for a limited time and amount.
func TestOutputIsHeldBack(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		hold := func(d time.Duration) { s.Call(func(now time.Time) { s.HoldOutput(now.Add(d)) }) }
		row := func() (row string) {
			synctest.Wait()
			require.True(t, s.Call(func(time.Time) { row = s.rowText(0) }))
			return row
		}
		hold(time.Second)
		s.feedOutput("1")
		require.Empty(t, row())
		s.Call(func(time.Time) { s.HoldOutput(time.Time{}) })
		require.Equal(t, "1", row())

		hold(time.Second)
		s.feedOutput("2")
		require.Equal(t, "1", row())
		time.Sleep(time.Second)
		require.Equal(t, "12", row())

		hold(time.Second)
		s.feedOutput("4")
		s.feedOutput(strings.Repeat("\x00", maxHeld))
		require.Equal(t, "124", row())

		hold(time.Second)
		s.feedOutput("5")
		s.Call(func(now time.Time) { s.Resize(now, 30, 3) })
		require.Equal(t, "1245", row(), "what was printed for the size before")
	})
}

func TestSnapshotsOfWhatChanged(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		s.SetSubscribed(true)
		time.Sleep(time.Hour)
		s.feedOutput("one")
		time.Sleep(time.Second)
		require.Equal(t, []string{"one", "one*"}, s.publishedRows(), "at once, and when it has settled")
		before := s.countLooks()
		time.Sleep(time.Hour)
		require.Empty(t, s.publishedRows())
		require.Equal(t, before, s.countLooks(), "an idle session costs nothing")
		s.Call(func(now time.Time) { s.ControlChanged(now, true) })
		time.Sleep(time.Second)
		require.Contains(t, s.publishedRows(), "*", "the user hides the screen")
		s.feedOutput("two")
		time.Sleep(time.Second)
		require.Empty(t, s.publishedRows(), "not even that something happens")
		s.Call(func(now time.Time) { s.ControlChanged(now, false) })
		time.Sleep(time.Second)
		require.Contains(t, s.publishedRows(), "onetwo*")
	})
}

// Without a subscriber a snapshot is made once the screen has settled. A new subscriber gets at once
// what has changed since the last one.
func TestSnapshotsWithoutASubscriber(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		time.Sleep(time.Hour)
		s.feedOutput("one")
		synctest.Wait()
		require.Empty(t, s.publishedRows())
		time.Sleep(time.Second)
		require.Equal(t, []string{"one*"}, s.publishedRows())
		s.feedOutput("two")
		synctest.Wait()
		require.Empty(t, s.publishedRows())
		s.SetSubscribed(true)
		synctest.Wait()
		require.Equal(t, []string{"onetwo"}, s.publishedRows())
		time.Sleep(time.Second)
		require.Equal(t, []string{"onetwo*"}, s.publishedRows())
		s.feedOutput("three")
		synctest.Wait()
		require.Equal(t, []string{"onetwothree"}, s.publishedRows())
	})
}

// A program does not announce that it waits for input: it is looked at, but only for those who wait
// for that.
func TestAWaitForInputLooksByItself(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		ended := s.openWait(protocol.Until{Waiting: true})
		time.Sleep(time.Minute)
		require.Empty(t, ended)
		s.Call(func(time.Time) { s.blocked = child.Blocked{Group: 7, Reads: true} })
		time.Sleep(2 * waitingEvery)
		require.Equal(t, snapshot.Result{ID: "w", End: snapshot.Met, Matched: protocol.MatchedWaiting}, <-ended)

		s.openWait(protocol.Until{Text: "never"})
		before := s.countLooks()
		time.Sleep(time.Minute)
		require.Equal(t, before, s.countLooks())
		s.Call(func(time.Time) {
			require.True(t, s.CancelWait("w"))
			require.False(t, s.CancelWait("w"))
		})
	})
}

func TestTheLineIsServedWhenItIsDue(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		began := time.Now()
		s.Call(func(now time.Time) { s.due = now.Add(time.Minute) })
		time.Sleep(time.Hour)
		s.Call(func(time.Time) { require.Equal(t, []time.Time{began.Add(time.Minute)}, s.serves) })
	})
}

// A program leaves its last frame, the waits for its end, and its history, from which the gateway
// answers then.
func TestTheEndOfTheProgram(t *testing.T) {
	runStage(t, func(t *testing.T, s *stage) {
		ended := s.openWait(protocol.Until{Exit: true})
		s.feedOutput("one\r\ntwo\r\nthree\r\nfour")
		time.Sleep(time.Second)
		s.publishedRows()
		var past *protocol.Past
		s.Call(func(now time.Time) { past = s.NoteExit(now, child.Exit{Code: 3}) })
		require.Equal(t, "exit", (<-ended).Matched)
		require.Equal(t, []string{"two*"}, s.publishedRows())
		require.Equal(t, &protocol.Past{Text: "one", NextLine: 1}, past)
		s.Call(func(now time.Time) {
			out := &protocol.WaitResult{}
			s.CompleteWait(now, &protocol.Wait{}, out)
			require.Equal(t, 3, *out.ExitCode)
			require.Equal(t, "exited", out.Frame.Activity.State)
			require.Equal(t, 3, *out.Frame.Activity.ExitCode)
			require.True(t, out.Frame.Settled)
		})
	})
}

// Without agents the observer is the terminal that answers the program, and the screen that a
// recording shows.
func TestWithoutAgents(t *testing.T) {
	var replies []byte
	s := &stage{}
	o := New(Config{Cols: 20, Rows: 3, Recorder: s, Queried: func(b []byte) { replies = append(replies, b...) }})
	o.FeedNow([]byte("x\x1b[6n"))
	require.Equal(t, "\x1b[1;2R", string(replies))
	require.Equal(t, "x\x1b[6n", s.fed)
	o.Resize(time.Now(), 10, 2)
	require.False(t, func() bool { _, ok := o.nextDeadline(); return ok }())
}
