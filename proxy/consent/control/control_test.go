package control_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/view/corpus"
)

var (
	t0   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ada  = control.Agent{ID: "agent-1", Name: "Ada"}
	bert = control.Agent{ID: "agent-2", Name: "Bert"}
)

func after(d time.Duration) time.Time { return t0.Add(d) }

// seen notes that the user can read the present question.
func seen(m *control.Machine, now time.Time) { m.NoteShown(now, m.Shown().Turn) }

// place is a situation of the machine: each function brings a new machine into it, at t0, with
// every question drawn long ago unless it says otherwise.
type place struct {
	name  string
	reach func(*testing.T) *control.Machine
}

var (
	observing = place{"observing", func(*testing.T) *control.Machine {
		return control.New(control.Config{Keyboard: true, Yield: time.Second})
	}}
	menu = place{"menu", func(*testing.T) *control.Machine {
		m := observing.reach(nil)
		m.ReclaimKey(after(-time.Second))
		seen(m, after(-time.Second))
		return m
	}}
	freshMenu = place{"menu just drawn", func(*testing.T) *control.Machine {
		m := observing.reach(nil)
		m.ReclaimKey(t0)
		seen(m, t0)
		return m
	}}
	pregranted = place{"pregranted", func(*testing.T) *control.Machine {
		m := menu.reach(nil)
		m.NoteGrantKey(after(-time.Millisecond), false)
		return m
	}}
	asked = place{"asked", func(t *testing.T) *control.Machine {
		m := observing.reach(t)
		require.NoError(t, m.Request(after(-time.Second), request("q", ada)))
		seen(m, after(-time.Second))
		return m
	}}
	freshAsked = place{"asked, not drawn", func(t *testing.T) *control.Machine {
		m := observing.reach(t)
		require.NoError(t, m.Request(t0, request("q", ada)))
		return m
	}}
	granted = place{"granted", func(t *testing.T) *control.Machine {
		m := asked.reach(t)
		m.NoteGrantKey(after(-700*time.Millisecond), false)
		return m
	}}
	longGranted = place{"granted long ago", func(t *testing.T) *control.Machine {
		m := observing.reach(t)
		require.NoError(t, m.Request(after(-time.Minute), request("q", ada)))
		seen(m, after(-time.Minute))
		m.NoteGrantKey(after(-time.Minute+time.Second), false)
		return m
	}}
	holding = place{"held input", func(t *testing.T) *control.Machine {
		m := longGranted.reach(t)
		require.NoError(t, m.AskConfirmation(after(-700*time.Millisecond), held))
		seen(m, after(-700*time.Millisecond))
		return m
	}}
	freshHolding = place{"held input, not drawn", func(t *testing.T) *control.Machine {
		m := longGranted.reach(t)
		seen(m, t0) // of what was there before
		require.NoError(t, m.AskConfirmation(t0, held))
		return m
	}}
	ended = place{"just ended", func(t *testing.T) *control.Machine {
		m := granted.reach(t)
		m.Release(after(-time.Millisecond), ada.ID, protocol.ReasonReleased)
		return m
	}}
)

// places are the situations of the table, and of the plays.
var places = []place{observing, menu, freshMenu, pregranted, asked, freshAsked, granted, holding, freshHolding, ended, longGranted}

var held = control.Confirmation{Keys: "<Enter>", Line: `"echo hi"`, Until: after(30 * time.Second)}

func request(id string, a control.Agent) control.Request {
	return control.Request{ID: id, Agent: a, Level: protocol.LevelDrive}
}

// look words a machine's state.
func look(m *control.Machine, now time.Time) string {
	s := m.State(now)
	word := [...]string{"observing", "asked", "granted"}[s.Phase]
	for _, more := range []struct {
		word string
		is   bool
	}{{"+menu", s.Question.Kind == question.Menu}, {"+pregrant", s.Pregrant}, {"+paused", s.Paused}, {"+held", s.Pending.Keys != ""}} {
		if more.is {
			word += more.word
		}
	}
	return word
}

// TestEveryPhaseAndEvent states the whole machine: the result of each event in each situation, and
// after ">" the next situation, if it changes. A place is named by what is there beside its phase.
func TestEveryPhaseAndEvent(t *testing.T) {
	states := map[string]string{
		"menu": "observing+menu", "wait": "asked+menu", "pregrant": "observing+pregrant",
		"paused": "granted+paused", "held": "granted+held", "paused+held": "granted+paused+held",
	}
	steps := map[string]string{
		"request": "request r ada drive", "other": "request o bert drive", "release": "release ada", "lost": "end link", "admit": "admit ada", "stale": "admit ada @-1",
	}
	const table = `
from         is        reclaim        confirm       key              request     other       release        lost           admit stale
observing    observing take>menu      pass          -                yes>asked   yes>asked   no             -              none  none
menu         menu      pass>observing take>pregrant ->observing      yes>wait    yes>wait    no             -              none  none
freshMenu    menu      take           take          ->observing      yes>wait    yes>wait    no             -              none  none
pregranted   pregrant  take>observing take          -                yes>granted yes>granted no             -              none  none
asked        asked     take>observing take>granted  -                yes         yes         yes>observing  ->observing    none  none
freshAsked   asked     take>observing take          -                yes         yes         yes>observing  ->observing    none  none
granted      granted   take>observing pass>paused   ->paused         yes         yes         yes>observing  ->observing    yes   stale
holding      held      take>observing take>granted  ->paused+held    yes         yes         yes>observing  ->observing    yes   stale
freshHolding held      take>observing take          ->paused+held    yes         yes         yes>observing  ->observing    yes   stale
ended        observing take           pass          -                yes>asked   yes>asked   no             -              none  none
`
	lines := strings.Split(strings.TrimSpace(table), "\n")
	names := strings.Fields(lines[0])[2:]
	for n, from := range places[:len(lines)-1] {
		cells := strings.Fields(lines[1+n])
		is := cmp.Or(states[cells[1]], cells[1])
		for i, event := range names {
			t.Run(from.name+"/"+event, func(t *testing.T) {
				p := &play{t: t, now: t0, Machine: from.reach(t)}
				p.epoch = p.Epoch()
				require.Equal(t, is, look(p.Machine, t0))
				answer, state, _ := strings.Cut(cells[2+i], ">")
				require.Equal(t, answer, cmp.Or(p.step(corpus.Step{Words: strings.Fields(cmp.Or(steps[event], event))}), "-"))
				require.Equal(t, cmp.Or(states[state], state, is), look(p.Machine, t0))
			})
		}
	}
}

// TestEveryRequestIsAnswered floods a question: each request of an agent gets one answer, and the
// oldest ones are told of their replacement.
func TestEveryRequestIsAnswered(t *testing.T) {
	m := asked.reach(t)
	want := map[string]int{"q": 1}
	for i := range 100 {
		id := fmt.Sprint("q", i)
		want[id] = 1
		require.NoError(t, m.Request(t0, request(id, ada)))
	}
	m.ReclaimKey(t0)
	got := map[string]int{}
	for _, e := range m.TakeEvents() {
		for _, id := range e.Requests {
			got[id]++
		}
	}
	require.Equal(t, want, got)
}

// walk does one random thing to m and says which.
func walk(r *rand.Rand, m *control.Machine, now time.Time) string {
	agent := []control.Agent{ada, bert}[r.IntN(2)]
	switch r.IntN(11) {
	case 10:
		m.SetConnected(now, agent.ID, r.IntN(2) == 0)
		return "connected"
	case 9:
		return fmt.Sprint("hold ", m.AskConfirmation(now, control.Confirmation{Keys: "<Enter>", Until: now.Add(time.Second)}), decision(m))
	case 0:
		m.ReclaimKey(now)
		return "reclaim"
	case 1, 2:
		seen(m, now)
		return "shown"
	case 3, 4:
		m.NoteGrantKey(now, false)
		return "confirm"
	case 5:
		m.NoteKey(now)
		return "key"
	case 6, 7:
		_ = m.Request(now, control.Request{ID: "r", Agent: agent, Level: []protocol.Level{protocol.LevelType, protocol.LevelDrive}[r.IntN(2)], For: time.Duration(r.IntN(3)) * time.Second})
		return "request"
	default:
		m.Release(now, agent.ID, protocol.ReasonReleased)
		return "release"
	}
}

// TestEpochsNeverReusedR14 walks at random: an epoch that was ever a grant's admits nothing after
// that grant.
func TestEpochsNeverReusedR14(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := control.New(control.Config{Keyboard: true, Yield: time.Second, For: 5 * time.Second})
		now, last := t0, m.Epoch()
		grants := map[uint64]bool{}
		for range 400 {
			now = now.Add(time.Duration(r.IntN(700)) * time.Millisecond)
			walk(r, m, now)
			require.GreaterOrEqual(t, m.Epoch(), last)
			last = m.Epoch()
			for _, e := range m.TakeEvents() {
				if e.Granted && m.Phase() == control.Granted && e.Epoch == m.Epoch() {
					grants[e.Epoch] = true
				} else if !e.Granted && grants[e.Epoch] {
					delete(grants, e.Epoch)
					require.Greater(t, m.Epoch(), e.Epoch)
				}
			}
			for _, agent := range []control.Agent{ada, bert} {
				for epoch := range m.Epoch() {
					if m.CheckInput(now, agent.ID, epoch) == nil {
						require.FailNow(t, "an older epoch admits input", "seed %d: epoch %d of %d", seed, epoch, m.Epoch())
					}
				}
			}
		}
	}
}

// TestNextTellsEveryMoment compares a machine that is told the time every millisecond with one that
// is told it only when it asked for it: both look the same, at every millisecond.
func TestNextTellsEveryMoment(t *testing.T) {
	for seed := range uint64(10) {
		conf := control.Config{Keyboard: true, Yield: 300 * time.Millisecond, For: 3 * time.Second}
		ticked, jumped := control.New(conf), control.New(conf)
		r := rand.New(rand.NewPCG(seed, 2))
		now := t0
		wake, set := jumped.NextTick(now)
		shown := jumped.State(now)
		for range 30 {
			for range 1 + r.IntN(1500) {
				now = now.Add(time.Millisecond)
				ticked.Tick(now)
				for set && !now.Before(wake) {
					jumped.Tick(now)
					shown = jumped.State(now)
					next, again := jumped.NextTick(now)
					require.True(t, !again || next.After(wake), "a moment that does not pass is a busy loop")
					wake, set = next, again
				}
				if state := ticked.State(now); state != shown {
					require.Equal(t, state, shown, "seed %d", seed)
				}
			}
			choice := r.Uint64()
			step := func(m *control.Machine) string { return walk(rand.New(rand.NewPCG(choice, 0)), m, now) }
			require.Equal(t, step(ticked), step(jumped))
			require.Equal(t, ticked.TakeEvents(), jumped.TakeEvents())
			shown = jumped.State(now)
			wake, set = jumped.NextTick(now)
		}
	}
}

// askAndRefuse lets an agent ask, and the user refuse it.
func askAndRefuse(t *testing.T, m *control.Machine, at time.Time, a control.Agent) {
	t.Helper()
	require.NoError(t, m.Request(at, request("r", a)))
	require.True(t, m.ReclaimKey(at))
	require.Equal(t, protocol.ReasonRefused, m.LastEnd().Reason)
}

// R71: refusals spread over a day do not add up.
func TestRefusalsAreForgottenR71(t *testing.T) {
	m := observing.reach(t)
	now := t0
	for i := range 20 {
		a := control.Agent{ID: fmt.Sprint("n-", i)}
		askAndRefuse(t, m, now, a)
		require.Equal(t, "not:10s:0", outcome(m.Request(now, request("r", bert))))
		now = now.Add(question.CrowdFor)
	}
}

// R71: an agent that withdraws its question and asks again does not make the screen flicker either.
func TestQuestionsThatAreTakenBackR71(t *testing.T) {
	m := observing.reach(t)
	drawn := 0
	for i := range 6000 {
		at := after(time.Duration(i) * 10 * time.Millisecond)
		if err := m.Request(at, request("r", ada)); err == nil {
			drawn++
			m.Release(at, ada.ID, protocol.ReasonReleased)
		}
	}
	require.Equal(t, 5+5, drawn, "in a minute")
	require.Equal(t, "not:1ms:0:flood", outcome(m.Request(after(time.Minute-time.Millisecond), request("r", ada))))
}

func TestAMuteIsNotForgottenR71(t *testing.T) {
	m := observing.reach(t)
	askAndRefuse(t, m, t0, ada)
	m.ReclaimKey(after(time.Hour))
	seen(m, after(time.Hour))
	m.ChooseInMenu(after(2*time.Hour), 'x') // the menu is closed by then
	m.ReclaimKey(after(2 * time.Hour))
	seen(m, after(2*time.Hour))
	require.True(t, m.ChooseInMenu(after(2*time.Hour+time.Second), 'x'))
	now := after(3 * time.Hour)
	for i := range 1000 {
		askAndRefuse(t, m, now, control.Agent{ID: fmt.Sprint("n-", i)})
		now = now.Add(time.Hour)
	}
	require.True(t, m.IsMuted(ada), "what the user said stays")
}
