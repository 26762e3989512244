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
	"terminalproxy/proxy/control"
)

var (
	t0   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ada  = control.Agent{ID: "agent-1", Name: "Ada"}
	bert = control.Agent{ID: "agent-2", Name: "Bert"}
)

func after(d time.Duration) time.Time { return t0.Add(d) }

// place is a situation of the machine: each function brings a new machine into it, at t0, with every question drawn long
// ago unless it says otherwise.
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
		m.Shown(after(-time.Second))
		return m
	}}
	freshMenu = place{"menu just drawn", func(*testing.T) *control.Machine {
		m := observing.reach(nil)
		m.ReclaimKey(t0)
		m.Shown(t0)
		return m
	}}
	pregranted = place{"pregranted", func(*testing.T) *control.Machine {
		m := menu.reach(nil)
		m.Confirm(after(-time.Millisecond))
		return m
	}}
	asked = place{"asked", func(t *testing.T) *control.Machine {
		m := observing.reach(t)
		require.NoError(t, m.Request(after(-time.Second), request("q", ada)))
		m.Shown(after(-time.Second))
		return m
	}}
	freshAsked = place{"asked, not drawn", func(t *testing.T) *control.Machine {
		m := observing.reach(t)
		require.NoError(t, m.Request(t0, request("q", ada)))
		return m
	}}
	granted = place{"granted", func(t *testing.T) *control.Machine {
		m := asked.reach(t)
		m.Confirm(after(-700 * time.Millisecond))
		return m
	}}
	holding = place{"held input", func(t *testing.T) *control.Machine {
		m := granted.reach(t)
		require.NoError(t, m.AskConfirmation(after(-time.Second), held))
		m.Shown(after(-time.Second))
		return m
	}}
	freshHolding = place{"held input, not drawn", func(t *testing.T) *control.Machine {
		m := granted.reach(t)
		m.Shown(t0) // of what was there before
		require.NoError(t, m.AskConfirmation(t0, held))
		return m
	}}
	ended = place{"just ended", func(t *testing.T) *control.Machine {
		m := granted.reach(t)
		m.Release(after(-time.Millisecond), ada.ID, protocol.ReasonReleased)
		return m
	}}
)

func request(id string, a control.Agent) control.Request {
	return control.Request{ID: id, Agent: a, Level: protocol.LevelDrive}
}

// The events of the table. Each says what became of it in a word.
var events = map[string]func(*control.Machine) string{
	"reclaim": func(m *control.Machine) string { return act(m.ReclaimKey(t0)) },
	"confirm": func(m *control.Machine) string { return act(m.Confirm(t0)) },
	"key":     func(m *control.Machine) string { m.Key(t0); return "pass" },
	"request": func(m *control.Machine) string { return outcome(m.Request(t0, request("r", ada))) },
	"other":   func(m *control.Machine) string { return outcome(m.Request(t0, request("o", bert))) },
	"release": func(m *control.Machine) string { return fmt.Sprint(m.Release(t0, ada.ID, protocol.ReasonReleased)) },
	"lost":    func(m *control.Machine) string { m.End(t0, protocol.ReasonLink); return "done" },
	"admit":   func(m *control.Machine) string { return outcome(m.Admit(t0, ada.ID, m.Epoch())) },
	"stale":   func(m *control.Machine) string { return outcome(m.Admit(t0, ada.ID, m.Epoch()-1)) },
}

func act(took bool) string {
	return map[bool]string{false: "pass", true: "take"}[took]
}

func outcome(err error) string {
	if err == nil {
		return "yes"
	}
	return err.Error()
}

// look words a machine's state.
func look(m *control.Machine) string {
	s := m.State(t0)
	word := [...]string{"observing", "asked", "granted"}[s.Phase]
	if s.Menu {
		word += "+menu"
	}
	if s.Pregrant {
		word += "+pregrant"
	}
	if s.Paused {
		word += "+paused"
	}
	if s.Pending.Keys != "" {
		word += "+held"
	}
	return word
}

// TestEveryPhaseAndEvent states the whole machine: what becomes of each event in each situation, and after ">" where it leads,
// if not back to where it was. A place is named by what is there beside its phase.
func TestEveryPhaseAndEvent(t *testing.T) {
	words := map[string]string{
		"another agent has the keyboard or is asking for it (Ada): try again later": "busy",
		"no grant": "none", "the grant ended: the epoch is an older one": "stale",
	}
	places := map[string]string{
		"menu": "observing+menu", "pregrant": "observing+pregrant",
		"paused": "granted+paused", "held": "granted+held", "paused+held": "granted+paused+held",
	}
	const table = `
from         is        reclaim        confirm       key              request     other       release        lost           admit stale
observing    observing take>menu      pass          pass             yes>asked   yes>asked   false          done           none  none
menu         menu      pass>observing take>pregrant pass>observing   yes>asked   yes>asked   false          done           none  none
freshMenu    menu      take           take          pass>observing   yes>asked   yes>asked   false          done           none  none
pregranted   pregrant  take>observing take          pass             yes>granted yes>granted false          done           none  none
asked        asked     take>observing take>granted  pass             yes         busy        true>observing done>observing none  none
freshAsked   asked     take>observing take          pass             yes         busy        true>observing done>observing none  none
granted      granted   take>observing pass>paused   pass>paused      yes         busy        true>observing done>observing yes   stale
holding      held      take>observing take>granted  pass>paused+held yes         busy        true>observing done>observing yes   stale
freshHolding held      take>observing take          pass>paused+held yes         busy        true>observing done>observing yes   stale
ended        observing take           pass          pass             yes>asked   yes>asked   false          done           none  none
`
	lines := strings.Split(strings.TrimSpace(table), "\n")
	names := strings.Fields(lines[0])[2:]
	require.Len(t, names, len(events), "every event")
	all := []place{observing, menu, freshMenu, pregranted, asked, freshAsked, granted, holding, freshHolding, ended}
	require.Len(t, lines, 1+len(all))
	for n, from := range all {
		cells := strings.Fields(lines[1+n])
		is := cmp.Or(places[cells[1]], cells[1])
		for i, event := range names {
			t.Run(from.name+"/"+event, func(t *testing.T) {
				m := from.reach(t)
				require.Equal(t, is, look(m))
				answer, state, _ := strings.Cut(cells[2+i], ">")
				got := events[event](m)
				require.Equal(t, answer, cmp.Or(words[got], got))
				require.Equal(t, cmp.Or(places[state], state, is), look(m))
			})
		}
	}
}

// TestR5HeldReclaimKey presses the key 60 times at 30 Hz, as a keyboard repeats it: the first ends control and none of the
// others may reach the program, nor open anything.
func TestR5HeldReclaimKey(t *testing.T) {
	m := granted.reach(t)
	now := t0
	for range 60 {
		require.True(t, m.ReclaimKey(now))
		require.Equal(t, "observing", look(m))
		now = now.Add(time.Second / 30)
	}
	m.ReclaimKey(now.Add(3 * time.Second))
	require.True(t, m.State(now).Menu, "three seconds later it is a key again")
}

// TestR5ReclaimKeyAfterEnd presses the key 5 ms after control ended by itself, for every reason.
func TestR5ReclaimKeyAfterEnd(t *testing.T) {
	for _, why := range []protocol.Reason{protocol.ReasonReleased, protocol.ReasonExpired, protocol.ReasonExited, protocol.ReasonLink, protocol.ReasonReplaced} {
		m := granted.reach(t)
		m.End(t0, why)
		require.True(t, m.ReclaimKey(after(5*time.Millisecond)), "reason %d", why)
		require.False(t, m.State(t0).Menu)
	}
}

func TestR5ExpiryBeforeReclaimKey(t *testing.T) {
	m := control.New(control.Config{Keyboard: true, Pregrant: protocol.LevelDrive, For: time.Minute})
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.True(t, m.ReclaimKey(after(time.Minute+5*time.Millisecond)))
	require.Equal(t, "observing", look(m))
	require.Equal(t, protocol.ReasonExpired, m.LastEnd().Reason, "nobody had told the machine the time before")
}

// TestR5Window measures the window: 1.5 s, and 0.7 s after each key that fell into it, never shorter for that.
func TestR5Window(t *testing.T) {
	for _, c := range []struct {
		presses []time.Duration
		menu    bool // after the last
	}{
		{[]time.Duration{0, 1499 * time.Millisecond}, false},
		{[]time.Duration{0, 1500 * time.Millisecond}, true},
		{[]time.Duration{0, 100 * time.Millisecond, 1499 * time.Millisecond}, false},
		{[]time.Duration{0, 1400 * time.Millisecond, 2099 * time.Millisecond}, false},
		{[]time.Duration{0, 1400 * time.Millisecond, 2100 * time.Millisecond}, true},
	} {
		m := granted.reach(t)
		for _, at := range c.presses {
			require.True(t, m.ReclaimKey(after(at)))
		}
		require.Equal(t, c.menu, m.State(after(3*time.Second)).Menu, "%v", c.presses)
	}
}

// TestR46TooEarly: a Ctrl+G that was pressed before the question could be read is no answer, and no key of the program's.
func TestR46TooEarly(t *testing.T) {
	for _, c := range []struct {
		name  string
		shown time.Duration // after the request; negative: never
		press time.Duration
		phase control.Phase
	}{
		{"not drawn", -1, time.Hour / 12, control.Asked},
		{"at once", 0, 0, control.Asked},
		{"just too early", 0, 299 * time.Millisecond, control.Asked},
		{"in time", 0, 300 * time.Millisecond, control.Granted},
		{"drawn late", 5 * time.Second, 5*time.Second + 299*time.Millisecond, control.Asked},
		{"drawn late, read", 5 * time.Second, 5*time.Second + 300*time.Millisecond, control.Granted},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := freshAsked.reach(t)
			if c.shown >= 0 {
				m.Shown(after(c.shown))
				m.Shown(after(c.shown + time.Hour)) // drawn again: it has been there all the time
			}
			require.True(t, m.Confirm(after(c.press)))
			require.Equal(t, c.phase, m.Phase())
		})
	}
}

// TestR46MenuBecomesQuestion: a request that arrives while the menu stands there is another question, to be read anew.
func TestR46MenuBecomesQuestion(t *testing.T) {
	m := menu.reach(t)
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.True(t, m.Confirm(after(time.Second)))
	require.Equal(t, control.Asked, m.Phase())
	m.Shown(after(time.Second))
	m.Confirm(after(time.Second + control.DrawnUnawares - 1))
	require.Equal(t, control.Asked, m.Phase(), "R71: it may be meant for the menu")
	m.Confirm(after(time.Second + control.DrawnUnawares))
	require.Equal(t, control.Granted, m.Phase())
}

func TestSeveralRequestsOneAnswer(t *testing.T) {
	m := asked.reach(t)
	require.NoError(t, m.Request(t0, request("q2", ada)))
	require.ErrorIs(t, m.Request(t0, request("b", bert)), control.ErrBusy)
	m.Confirm(t0)
	events := m.TakeEvents()
	require.Len(t, events, 1)
	require.Equal(t, []string{"q", "q2"}, events[0].Requests)
	require.True(t, events[0].Granted)
	require.Empty(t, m.TakeEvents())
}

// TestEveryRequestIsAnswered floods a question: each request of an agent gets one answer, the oldest their replacement.
func TestEveryRequestIsAnswered(t *testing.T) {
	m := asked.reach(t)
	want := map[string]int{"q": 1}
	for i := range 100 {
		id := fmt.Sprint("q", i)
		want[id] = 1
		require.NoError(t, m.Request(t0, request(id, ada)))
	}
	m.ReclaimKey(t0)
	require.Equal(t, want, answers(m.TakeEvents()))
}

// TestPregrantAnswersWhoWaits: the user allowed "type" beforehand; an agent asks for more, then for that. Both requests
// are answered.
func TestPregrantAnswersWhoWaits(t *testing.T) {
	m := control.New(control.Config{Keyboard: true, Pregrant: protocol.LevelType})
	require.NoError(t, m.Request(t0, request("more", ada)))
	require.NoError(t, m.Request(t0, control.Request{ID: "less", Agent: ada, Level: protocol.LevelType}))
	require.Equal(t, control.Granted, m.Phase())
	require.Equal(t, protocol.LevelType, m.State(t0).Level)
	require.Equal(t, map[string]int{"more": 1, "less": 1}, answers(m.TakeEvents()))
}

func answers(events []control.Event) map[string]int {
	got := map[string]int{}
	for _, e := range events {
		for _, id := range e.Requests {
			got[id]++
		}
	}
	return got
}

// TestOnlyTheUserGrants: no request is granted that the user did not answer, whatever level it names.
func TestOnlyTheUserGrants(t *testing.T) {
	for _, level := range []protocol.Level{"", protocol.LevelType, protocol.LevelDrive, "more"} {
		m := observing.reach(t)
		require.NoError(t, m.Request(t0, control.Request{ID: "r", Agent: ada, Level: level}))
		require.Equal(t, control.Asked, m.Phase(), "level %q", level)
	}
	m := control.New(control.Config{Keyboard: true, Pregrant: protocol.LevelType})
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.Equal(t, control.Asked, m.Phase(), "allowed to type is not allowed to drive")
}

// TestAHigherLevelIsAskedAnew: who may type and asks to drive is not told that it may.
func TestAHigherLevelIsAskedAnew(t *testing.T) {
	for _, c := range []struct {
		has, wants protocol.Level
		given      bool
	}{
		{protocol.LevelType, protocol.LevelType, true},
		{protocol.LevelDrive, protocol.LevelType, true},
		{protocol.LevelDrive, protocol.LevelDrive, true},
		{protocol.LevelType, protocol.LevelDrive, false},
	} {
		m := control.New(control.Config{Keyboard: true, Pregrant: c.has})
		require.NoError(t, m.Request(t0, control.Request{ID: "r", Agent: ada, Level: c.has}))
		m.TakeEvents()
		err := m.Request(t0, control.Request{ID: "more", Agent: ada, Level: c.wants})
		if !c.given {
			require.ErrorIs(t, err, control.ErrBusy)
			require.ErrorContains(t, err, "release it first")
		}
		require.Equal(t, c.given, answers(m.TakeEvents())["more"] == 1, "%d for %d", c.wants, c.has)
		require.Equal(t, c.has, m.State(t0).Level)
	}
}

func TestNobodyToAsk(t *testing.T) {
	m := control.New(control.Config{})
	require.ErrorIs(t, m.Request(t0, request("r", ada)), control.ErrNobody)
	require.Equal(t, control.Observing, m.Phase())
}

func TestPregrantEndsUnused(t *testing.T) {
	m := pregranted.reach(t)
	m.Tick(after(control.PregrantFor - 2*time.Millisecond))
	require.True(t, m.State(t0).Pregrant)
	m.Tick(after(control.PregrantFor))
	require.False(t, m.State(t0).Pregrant)
	require.NoError(t, m.Request(after(control.PregrantFor), request("r", ada)))
	require.Equal(t, control.Asked, m.Phase())
}

func TestPregrantIsForOne(t *testing.T) {
	m := pregranted.reach(t)
	require.NoError(t, m.Request(t0, request("r", ada)))
	m.Release(t0, ada.ID, protocol.ReasonReleased)
	require.NoError(t, m.Request(after(time.Second), request("r2", ada)))
	require.Equal(t, control.Asked, m.Phase())
}

func TestExpiry(t *testing.T) {
	for _, c := range []struct{ wanted, limit, until time.Duration }{
		{0, 0, 0},
		{time.Minute, 0, time.Minute},
		{0, time.Hour, time.Hour},
		{time.Minute, time.Hour, time.Minute},
		{time.Hour, time.Minute, time.Minute},
	} {
		m := control.New(control.Config{Keyboard: true, Pregrant: protocol.LevelDrive, For: c.limit})
		r := request("r", ada)
		r.For = c.wanted
		require.NoError(t, m.Request(t0, r))
		if c.until == 0 {
			require.True(t, m.State(t0).Until.IsZero())
			require.NoError(t, m.Admit(after(1000*time.Hour), ada.ID, m.Epoch()))
			continue
		}
		require.Equal(t, after(c.until), m.State(t0).Until)
		epoch := m.Epoch()
		require.NoError(t, m.Admit(after(c.until-1), ada.ID, epoch))
		require.ErrorIs(t, m.Admit(after(c.until), ada.ID, epoch), control.ErrNoGrant)
	}
}

func TestQuestionExpires(t *testing.T) {
	m := freshAsked.reach(t)
	m.Tick(after(control.AskFor))
	require.Equal(t, control.Observing, m.Phase())
	require.Equal(t, protocol.ReasonExpired, m.LastEnd().Reason)
	require.Equal(t, []string{"q"}, m.LastEnd().Requests)
}

func TestOtherAgentsInput(t *testing.T) {
	m := granted.reach(t)
	require.ErrorIs(t, m.Admit(t0, bert.ID, m.Epoch()), control.ErrNoGrant)
	require.False(t, m.Release(t0, bert.ID, protocol.ReasonReleased))
	require.Equal(t, control.Granted, m.Phase())
}

// walk does one random thing to m and says which.
func walk(r *rand.Rand, m *control.Machine, now time.Time) string {
	agent := []control.Agent{ada, bert}[r.IntN(2)]
	switch r.IntN(11) {
	case 10:
		m.Connected(now, agent.ID, r.IntN(2) == 0)
		return "connected"
	case 9:
		return fmt.Sprint("hold ", m.AskConfirmation(now, control.Confirmation{Keys: "<Enter>", Until: now.Add(time.Second)}), decision(m))
	case 0:
		m.ReclaimKey(now)
		return "reclaim"
	case 1, 2:
		m.Shown(now)
		return "shown"
	case 3, 4:
		m.Confirm(now)
		return "confirm"
	case 5:
		m.Key(now)
		return "key"
	case 6, 7:
		_ = m.Request(now, control.Request{ID: "r", Agent: agent, Level: []protocol.Level{protocol.LevelType, protocol.LevelDrive}[r.IntN(2)], For: time.Duration(r.IntN(3)) * time.Second})
		return "request"
	default:
		m.Release(now, agent.ID, protocol.ReasonReleased)
		return "release"
	}
}

// TestR14EpochsNeverReused walks at random: an epoch that was ever a grant's admits nothing after that grant.
func TestR14EpochsNeverReused(t *testing.T) {
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
					require.Error(t, m.Admit(now, agent.ID, epoch))
				}
			}
		}
	}
}

// TestNextTellsEveryMoment compares a machine that is told the time every millisecond with one that is told it only when
// it asked for it: whoever looks sees the same, at every millisecond.
func TestNextTellsEveryMoment(t *testing.T) {
	for seed := range uint64(10) {
		conf := control.Config{Keyboard: true, Yield: 300 * time.Millisecond, For: 3 * time.Second}
		ticked, jumped := control.New(conf), control.New(conf)
		r := rand.New(rand.NewPCG(seed, 2))
		now := t0
		wake, set := jumped.Next(now)
		shown := jumped.State(now)
		for range 30 {
			for range 1 + r.IntN(1500) {
				now = now.Add(time.Millisecond)
				ticked.Tick(now)
				for set && !now.Before(wake) {
					jumped.Tick(now)
					shown = jumped.State(now)
					next, again := jumped.Next(now)
					require.True(t, !again || next.After(wake), "a moment that does not pass is a busy loop")
					wake, set = next, again
				}
				require.Equal(t, ticked.State(now), shown, "seed %d", seed)
			}
			choice := r.Uint64()
			step := func(m *control.Machine) string { return walk(rand.New(rand.NewPCG(choice, 0)), m, now) }
			require.Equal(t, step(ticked), step(jumped))
			require.Equal(t, ticked.TakeEvents(), jumped.TakeEvents())
			shown = jumped.State(now)
			wake, set = jumped.Next(now)
		}
	}
}
