package pump_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/view/corpus"
)

// play is a world under the plays of testdata/plays.txt. The first step says who is there: an agent
// with a grant (granted), only the user (alone), a program that may ask for more input (front), or
// a grant and a pump that waits for "start" (idle). "60*33ms" before a step repeats it sixty times,
// 33 ms apart.
type play struct {
	*world
	t     *testing.T
	epoch uint64
	jobs  map[string]*job
	line  string // of the user's, which is in the way
	busy  bool   // the program does not ask for more
	looks int    // at that
	ended bool
}

func TestPlays(t *testing.T) {
	corpus.Plays(t, "plays", func(t *testing.T, steps []corpus.Step) {
		synctest.Test(t, func(t *testing.T) {
			p := &play{t: t}
			for _, s := range steps {
				times, every := 1, time.Duration(0)
				if n, step, many := strings.Cut(s.Words[0], "*"); many {
					times, every, s.Words = number(t, n), duration(t, step), s.Words[1:]
				}
				for range times {
					p.step(s)
					if every > 0 {
						p.sleep(every)
					}
				}
				for _, w := range s.Wants {
					require.Equal(t, w.Value, p.fact(w.Name), s.Line)
				}
			}
			p.end()
		})
	})
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

func duration(t *testing.T, s string) time.Duration {
	t.Helper()
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	require.NoError(t, err)
	return d
}

// begin begins a new world.
func (p *play) begin(how string) {
	p.end()
	*p = play{t: p.t, world: newWorld(p.t, how != "alone", nil), jobs: map[string]*job{}}
	p.epoch = p.ctl.Epoch()
	if how == "front" {
		p.pump.IsProgramBack = func(time.Time) bool { p.looks++; return !p.busy }
	}
	if how != "idle" {
		p.start()
		synctest.Wait()
	}
}

// end ends the world: by then every job has its receipt.
func (p *play) end() {
	if p.world == nil || p.ended {
		return
	}
	p.stop()
	p.ended = true
	for _, j := range p.jobs {
		j.receipt(p.t)
	}
}

func (p *play) step(s corpus.Step) {
	switch what, arg := s.Words[0], s.Arg(1); what {
	case "granted", "alone", "front", "idle":
		p.begin(what)
	case "start":
		p.start()
	case "stop":
		p.end()
	case "room":
		p.room = number(p.t, arg)
	case "drain":
		n := -1
		if arg != "" {
			n = number(p.t, arg)
		}
		p.drain(n)
	case "press":
		p.press(arg)
	case "person", "person-refused":
		p.pump.Post(func(now time.Time) { require.Equal(p.t, what == "person", p.pump.PressKeys(now, []byte(arg)), s.Line) })
	case "sleep":
		p.sleep(duration(p.t, arg))
	case "gone":
		p.gone = errGone
	case "group":
		p.group = number(p.t, arg)
	case "unread":
		p.unread = number(p.t, arg)
	case "canonical", "raw", "reads-a-key":
		p.canonical, p.restores = what == "canonical", what == "reads-a-key"
	case "busy", "ready":
		p.busy = what == "busy"
	case "elsewhere", "here":
		p.ctl.elsewhere = what == "elsewhere"
	case "line":
		p.line = arg
	case "vacate":
		p.pump.Post(p.ctl.VacateLine)
		p.sleep(0)
	case "lost":
		p.pump.Post(func(now time.Time) { p.ctl.End(now, protocol.ReasonLink) })
	case "exits":
		p.pump.Post(func(now time.Time) { p.ctl.End(now, protocol.ReasonExited) })
	case "closes":
		p.pump.Post(p.ctl.Close)
	case "shown":
		p.ctl.NoteShown(time.Now(), p.ctl.Shown().Turn)
	case "lets":
		p.confirmHeld()
	case "grant":
		p.grant()
	case "grant-again":
		p.grantAgain()
	case "request":
		p.pump.Post(func(time.Time) { p.grant() })
		synctest.Wait()
	case "withdraw", "gone-agent": // given up by the call; its connection ended
		p.pump.WithdrawInput(arg, what == "withdraw")
	case "offer":
		p.jobs[arg] = p.prepared(s)
		p.offer(p.jobs[arg])
	default:
		require.FailNow(p.t, "no such step", s.Line)
	}
	synctest.Wait()
}

// prepared returns the job of an offer: its name, its pieces between |, or many of 64 bytes, and
// how it is made. A + begins a step, which is prepared after a pause, or refused.
func (p *play) prepared(s corpus.Step) *job {
	pieces := strings.Split(s.Arg(2), "|")
	if n := s.Option("many"); n != "" {
		pieces = many(number(p.t, n))
	}
	j := p.actingJob(pieces...)
	j.ID, j.Wait = s.Arg(1), duration(p.t, s.Option("wait"))
	if n := s.Option("epoch"); n != "" {
		j.Epoch = p.epoch + uint64(number(p.t, n))
	}
	if s.Words[len(s.Words)-1] == "confirm" {
		p.hold(j)
	}
	steps := map[string]int{}
	for i, piece := range pieces {
		if step, begins := strings.CutPrefix(piece, "+"); begins {
			steps[step] = i + 1
			j.Size--
		}
	}
	prepare := j.Prepare
	j.Prepare = func(left []pump.Piece, answer func([]pump.Piece, error)) {
		if p.line != "" {
			answer(nil, &pump.OccupiedError{Line: p.line})
			return
		}
		prepare(left, func(pieces []pump.Piece, err error) {
			begins := left != nil && left[0].Step != 0
			switch {
			case begins && s.Option("then") == "refused":
				answer(nil, errors.New("not now"))
			case begins:
				time.AfterFunc(duration(p.t, s.Option("rest")), func() { answer(pieces, err) })
			default:
				for i, piece := range pieces {
					step, _ := strings.CutPrefix(string(piece.Bytes), "+")
					pieces[i].Bytes, pieces[i].Step = []byte(step), steps[step]
				}
				answer(pieces, err)
			}
		})
	}
	return j
}

// fact returns a fact about the world, or the receipt of a job: its fate, and the bytes written,
// dropped and left unsubmitted.
func (p *play) fact(name string) string {
	if j := p.jobs[name]; j != nil {
		if len(j.receipts) == 0 {
			return "open"
		}
		return p.receipt(j.receipt(p.t))
	}
	if of, ok := strings.CutPrefix(name, "back:"); ok {
		back := 0
		for _, n := range p.jobs[of].back {
			back += n
		}
		return fmt.Sprint(back)
	}
	state := p.ctl.State(time.Now())
	switch name {
	case "story":
		return strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(p.story(), "read ", "read:"), "write ", "write:"), " | ", "|")
	case "written":
		return p.written()
	case "got":
		return string(p.got)
	case "phase":
		return [...]string{"observing", "asked", "granted"}[p.ctl.Phase()]
	case "dropped":
		return fmt.Sprint(p.ctl.dropped)
	case "unsubmitted":
		return fmt.Sprint(p.ctl.unsubmitted)
	case "pending":
		return state.Pending.Keys
	case "line":
		return state.Line
	case "occupied":
		return map[bool]string{true: "yes", false: "no"}[p.ctl.IsLineOccupied()]
	case "looks":
		switch {
		case p.looks == 0:
			return "none"
		case p.looks < 70:
			return "few"
		}
		return "many"
	}
	require.FailNow(p.t, "no such fact", name)
	return ""
}

func (p *play) receipt(r pump.Receipt) string {
	fate := map[pump.Fate]string{
		pump.Written: "written", pump.Dropped: "dropped", pump.Refused: "refused", pump.NotReading: "not-reading", pump.UserTyping: "user-typing",
		pump.ProgramEnded: "gone", pump.OtherProgram: "elsewhere", pump.Busy: "busy",
		pump.Withdrawn: "withdrawn",
	}[r.Fate]
	for word, err := range map[string]error{"none": control.ErrNoGrant, "stale": control.ErrStale, "late": pump.ErrLate} {
		if errors.Is(r.Err, err) {
			return fate + ":" + word
		}
	}
	says := fmt.Sprintf("%s:%d/%d", fate, r.Written, r.Dropped)
	if r.Unsubmitted > 0 {
		says += fmt.Sprintf("/%d", r.Unsubmitted)
	}
	return says + map[bool]string{true: ":held"}[r.Held]
}
