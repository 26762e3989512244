package copier_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/copier"
	"terminalproxy/proxy/view/corpus"
)

// play is a rig under the plays of testdata/plays.txt. The first step says what is around the
// copier.
type play struct {
	*rig
	resume          func(front bool)
	began           time.Time // of the parking
	parked, guarded bool
}

func TestPlays(t *testing.T) {
	rigs := map[string]func(text string) func(*rig, *copier.Config){
		"bare":      func(string) func(*rig, *copier.Config) { return nil },
		"modelless": func(string) func(*rig, *copier.Config) { return func(_ *rig, c *copier.Config) { c.Model = nil } },
		"unseen":    func(string) func(*rig, *copier.Config) { return func(r *rig, _ *copier.Config) { r.on = false } },
		"shown":     shown, "watched": watched,
	}
	corpus.Plays(t, "plays", func(t *testing.T, steps []corpus.Step) {
		for len(steps) > 0 {
			begin := steps[0]
			require.Contains(t, rigs, begin.Words[0])
			n := 1
			for n < len(steps) && rigs[steps[n].Words[0]] == nil {
				n++
			}
			runCopier(t, rigs[begin.Words[0]](begin.Arg(1)), func(t *testing.T, r *rig) {
				p := &play{rig: r}
				p.wants(t, begin)
				for _, s := range steps[1:n] {
					p.step(t, s)
					synctest.Wait()
					p.wants(t, s)
				}
			})
			steps = steps[n:]
		}
	})
}

func (p *play) wants(t *testing.T, s corpus.Step) {
	t.Helper()
	for _, w := range s.Wants {
		require.Equal(t, w.Value, p.fact(t, w.Name), s.Line)
	}
}

func (p *play) step(t *testing.T, s corpus.Step) {
	t.Helper()
	switch arg := s.Arg(1); s.Words[0] {
	case "prints":
		p.print(s.Words[1:]...)
	case "behind":
		p.mu.Lock()
		p.output = append(p.output, arg)
		p.mu.Unlock()
	case "takes":
		room, err := strconv.Atoi(arg)
		require.NoError(t, err)
		p.setRoom(room)
	case "set", "unset":
		p.put(t, arg, s.Words[0] == "set")
	case "forget":
		p.takeNotes()
		p.screen()
	case "on-read":
		p.reading = map[string]func(){"resized": p.c.NoteResize, "renew": p.c.ResendScreen}[arg]
	case "resized":
		p.c.NoteResize()
	case "repaint":
		p.c.Repaint()
	case "renew":
		p.c.ResendScreen()
	case "shut":
		p.change(func() { p.shut = true })
	case "sleep":
		d, err := time.ParseDuration(arg)
		require.NoError(t, err)
		time.Sleep(d)
	case "ends":
		p.change(func() { p.output, p.ended = append(p.output, s.Words[1:]...), true })
		<-p.c.Done()
	case "abandon":
		p.c.AbandonOutput()
		<-p.c.Done()
	case "guard":
		p.guarded = p.c.SetWatchdog(p)
	case "park":
		p.began = time.Now()
		p.resume, p.parked = p.c.PauseCopying()
	case "finish":
		p.c.FinishOutput()
	case "caught-up":
		p.c.NoteCaughtUp()
	case "resume":
		p.resume(arg == "yes")
	default:
		require.FailNow(t, "no such step", s.Line)
	}
}

// put changes the overlay or the viewers while the copier is idle.
func (p *play) put(t *testing.T, what string, on bool) {
	t.Helper()
	name, value, _ := strings.Cut(what, "=")
	switch name {
	case "sign":
		p.shows.sign = on
	case "touched":
		p.shows.touched = on
	case "cut":
		p.shows.cut = on
	case "asks":
		p.shows.asks = on
	case "wait":
		p.looks.wait = on
	case "strict":
		p.strict = on
	case "unseen":
		p.on = !on
	case "full": // the model is behind by too much
		p.change(func() { p.full = on })
	case "quiet": // no one looks at the model
		p.unseen = on
	case "alarm":
		p.change(func() { p.alarm = on })
	case "locates":
		p.shows.locates = value
	case "late": // the model is behind what is drawn
		p.shows.mu.Lock()
		p.shows.behind, p.shows.up = on, false
		p.shows.mu.Unlock()
	case "text":
		p.shows.text = value
	case "title":
		p.shows.title = value
	case "again":
		d, err := time.ParseDuration(value)
		require.NoError(t, err)
		p.shows.again = time.Now().Add(d)
	default:
		require.FailNow(t, "nothing to set", what)
	}
}

var quoted = regexp.MustCompile(` ("(?:\\.|[^"\\])*")`)

// fact returns a fact about the rig; the calls and the output are those since the last fact.
func (p *play) fact(t *testing.T, name string) string {
	t.Helper()
	switch name {
	case "did":
		return quoted.ReplaceAllStringFunc(strings.ReplaceAll(p.takeNotes(), " | ", "|"), func(s string) string {
			text, err := strconv.Unquote(s[1:])
			require.NoError(t, err)
			return ":" + text
		})
	case "screen":
		return p.screen()
	case "watchdog":
		return p.watchdog()
	case "exit":
		return string(p.c.ExitSequence())
	case "title":
		return p.shows.title
	case "took":
		return time.Since(p.began).String()
	case "over":
		select {
		case <-p.c.Done():
			return "yes"
		default:
			return "no"
		}
	}
	facts := map[string]bool{"inhand": p.c.HasUnfedOutput(), "heldopen": p.c.HeldOpen(), "parked": p.parked, "guarded": p.guarded}
	require.Contains(t, facts, name)
	return map[bool]string{true: "yes", false: "no"}[facts[name]]
}
