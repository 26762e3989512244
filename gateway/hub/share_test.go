package hub

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// wishes are the ways to subscribe: with all, with changes, with rows that moved, with deltas, and
// with both.
var wishes = []protocol.SessionsSubscribe{
	{}, {Changes: true}, {Changes: true, Moves: true}, {Changes: true, Deltas: true}, {Changes: true, Moves: true, Deltas: true},
}

// TestARevisionIsEncodedOnce counts the frames made of a revision: at most one for each way to
// subscribe, however many subscribe, and one more for a subscriber that has another revision.
func TestARevisionIsEncodedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, proxy, _ := scene()
		var subs []*Peer
		for i := range 300 {
			p := proxy.hub.Join(Member{Role: RoleViewer, ID: fmt.Sprint("v-", i)})
			wish := wishes[i%len(wishes)]
			wish.RequestID, wish.SessionID = "s", "vim-1"
			p.Handle(&wish)
			allMessages(p)
			subs = append(subs, p)
		}
		encoded := func(from []*Peer) int {
			made := make(map[*byte]bool)
			for _, p := range from {
				frame, err := protocol.Encode(onlyMessage[protocol.SnapshotPart](t, p))
				require.NoError(t, err)
				made[&frame[0]] = true
			}
			return len(made)
		}
		for seq := range uint64(3) {
			proxy.Handle(full("vim-1", seq+1, "a line that stays", fmt.Sprint("line ", seq)))
			require.LessOrEqual(t, encoded(subs), len(wishes))
		}
		late, others := subs[:len(wishes)], subs[len(wishes):]
		proxy.Handle(full("vim-1", 4, "a line that stays", "four"))
		require.LessOrEqual(t, encoded(others), len(wishes))
		proxy.Handle(full("vim-1", 5, "a line that stays", "five"))
		require.LessOrEqual(t, encoded(others), len(wishes))
		require.LessOrEqual(t, encoded(late), len(wishes), "all rows are said to everybody in the same way, the changes to these alone")
		for _, p := range subs {
			p.Leave()
		}
	})
}

// stream is a proxy's end of a connection or a subscriber's: it completes and shortens snapshots.
type stream struct {
	last   *protocol.Snapshot
	deltas bool
}

// overWire returns a message as the other end reads it.
func overWire[T protocol.Message](t *testing.T, m T) T {
	t.Helper()
	frame, err := protocol.Encode(m)
	require.NoError(t, err)
	read, err := protocol.Decode(frame, protocol.MaxMessage)
	require.NoError(t, err)
	out, ok := read.(T)
	require.True(t, ok)
	return out
}

// part returns what the gateway lacks of a snapshot, as a proxy's link does.
func (p *stream) part(s *protocol.Snapshot) (m protocol.Message) {
	m = s.Difference(p.last, false)
	if d := s.Delta(p.last, true); d != nil && p.deltas {
		m = d
	}
	p.last = s
	return m
}

// Subscribers of all kinds fetch now and then, with a proxy that makes deltas and with one that does
// not, while the proxy's connection is lost, subscribers begin anew, and the user hides the screen.
// One that fetched everything has all of the newest snapshot. What it gets of a hidden screen says
// nothing of the one before.
func TestEverySubscriberHasTheNewestSnapshot(t *testing.T) {
	for seed := range uint64(8) {
		inScene(t, func(t *testing.T, h *Hub, proxy, _ *Peer) {
			r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
			up := &stream{deltas: seed%2 == 0}
			peers, have := make([]*Peer, 15), make([]*protocol.Snapshot, 15)
			fetch := func(i int) {
				for _, m := range allMessages(peers[i]) {
					if next, ok := m.(protocol.SnapshotPart); ok {
						next = overWire(t, next)
						frame, err := protocol.Encode(next)
						require.NoError(t, err)
						have[i], ok = next.Complete(have[i])
						require.True(t, ok, "seed %d", seed)
						if have[i].Blackout.ByUser() {
							require.NotRegexp(t, "word |title\"?:\"t|/home/ada", string(frame))
						}
					}
				}
			}
			subscribe := func(i int) {
				wish := wishes[i%len(wishes)]
				wish.RequestID, wish.SessionID = "s", "vim-1"
				peers[i].Handle(&wish)
			}
			for i := range peers {
				peers[i] = h.Join(Member{Role: RoleViewer, ID: fmt.Sprint("v-", i)})
				subscribe(i)
			}
			newest := newScreen(24)
			byUser := false
			for range 60 {
				newest = nextScreen(r, newest, byUser)
				switch r.IntN(12) {
				case 0: // the user hides the screen, or shows it again
					byUser = !byUser
					proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", On: byUser, Why: protocol.BlackoutUser})
					up.last = nil
					newest = nextScreen(r, newest, byUser)
				case 1: // the proxy comes back on another connection
					proxy.Leave()
					proxy = h.Join(Member{Role: RoleProxy})
					proxy.Handle(opening("vim-1", "secret"))
					up.last = nil
				case 2:
					i := r.IntN(len(peers))
					fetch(i)
					have[i] = nil
					subscribe(i)
				}
				if r.IntN(4) > 0 { // else the next one takes its place
					proxy.Handle(overWire(t, up.part(newest)))
				}
				time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
				for i := range peers {
					if r.IntN(3) == 0 {
						fetch(i)
					}
				}
			}
			newest = nextScreen(r, newest, byUser)
			proxy.Handle(overWire(t, up.part(newest)))
			for _, m := range allMessages(proxy) {
				_, refused := m.(*protocol.Error)
				require.False(t, refused, "seed %d: %+v", seed, m)
			}
			for i := range peers {
				fetch(i)
				want, got := *newest, *have[i]
				require.NotEmpty(t, got.ID)
				want.ID, got.ID = "", ""
				if wishes[i%len(wishes)].Changes {
					want.Content = ""
				}
				require.Equal(t, asJSON(t, &want), asJSON(t, &got), "seed %d, subscriber %d", seed, i)
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func newScreen(rows int) *protocol.Snapshot {
	return &protocol.Snapshot{
		ID: "m", SessionID: "vim-1", Timestamp: 1767225600000, Seq: 1, Keyboard: &protocol.Keyboard{Holder: protocol.HolderUser},
		Screen: &protocol.Screen{Cols: 80, Rows: rows, Lines: make([]string, rows), Hash: "h"},
	}
}

// nextScreen returns a snapshot that can follow one, as a proxy makes it.
func nextScreen(r *rand.Rand, last *protocol.Snapshot, byUser bool) *protocol.Snapshot {
	next, screen := *last, *last.Screen
	next.Screen, next.Timestamp, next.IdleMs, next.Settled = &screen, last.Timestamp+r.Int64N(3000), 0, r.IntN(2) == 0
	if byUser {
		next.Seq, next.Content, next.Foreground, next.Directory, next.UsedAt = last.Seq+1, "", "", "", 0
		next.Blackout, next.HiddenText = &protocol.Hidden{Why: protocol.BlackoutUser}, nil
		next.Screen = newScreen(screen.Rows).Screen
		next.Screen.Hash = ""
		return &next
	}
	next.Blackout, next.Foreground, next.Directory, next.UsedAt = nil, "vim", "/home/ada", 1767225590000
	if r.IntN(3) > 0 {
		next.Seq++
		screen.Lines = protocol.Move(screen.Lines, r.IntN(5)-2)
		for range r.IntN(5) {
			screen.Lines[r.IntN(screen.Rows)] = strings.Repeat("word ", r.IntN(16))
		}
		next.Content = strings.Join(screen.Lines, "\n")
		screen.Cursor = protocol.Cursor{Row: r.IntN(screen.Rows), Col: r.IntN(80), Visible: r.IntN(5) > 0}
		screen.Hash = protocol.HashScreen(screen.Cols, screen.Rows, screen.Cursor, screen.Lines)
	}
	for range r.IntN(3) {
		switch r.IntN(6) {
		case 0:
			screen.Modes = protocol.Modes{Mouse: r.IntN(2) == 0, BracketedPaste: r.IntN(2) == 0}
		case 1:
			screen.Title = strings.Repeat("title", r.IntN(2))
		case 2:
			next.Keyboard = &protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: fmt.Sprint("a-", r.IntN(3)), Epoch: r.Uint64N(9)}
		case 3:
			next.Muted = strings.Fields(strings.Repeat("codex ", r.IntN(3)))
		case 4:
			next.HiddenText = []int{r.IntN(screen.Rows)}
		case 5:
			screen.Progress = &protocol.Progress{State: protocol.ProgressRuns, Percent: r.IntN(3)}
		}
	}
	return &next
}
