package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
)

// A remote refusal is meant for a request: it takes no keyboard away.
func TestARefusalEndsNoControl(t *testing.T) {
	bob := control.Agent{ID: "b-1", Name: "bob"}
	m := control.New(control.Config{Keyboard: true})
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.NoError(t, m.RefuseRequest(t0, "bob", "grace"), "it asks no more")
	require.Equal(t, control.Asked, m.Phase())
	require.NoError(t, m.RefuseRequest(t0, ada.Name, "grace"))
	require.Equal(t, control.Observing, m.Phase())
	require.Equal(t, []any{protocol.ReasonRefused, "grace"}, []any{m.LastEnd().Reason, m.LastEnd().By})

	later := after(time.Minute)
	require.NoError(t, m.Request(later, request("r", bob)))
	require.NoError(t, m.GrantFromOwner(later, control.RemoteGrant{By: "grace"}))
	require.NoError(t, m.RefuseRequest(later, ada.Name, "eve"), "ada's question is over, and bob drives")
	require.ErrorContains(t, m.RefuseRequest(later, "bob", "eve"), "bob has the keyboard already: take it back")
	require.ErrorContains(t, m.RefuseRequest(later, "", "eve"), "bob has the keyboard already")
	require.Equal(t, control.Granted, m.Phase())
}

// An agent muted remotely loses its request or its grant, and may ask again once it is unmuted.
func TestAnAgentIsMutedRemotely(t *testing.T) {
	for name, reach := range map[string]func(m *control.Machine){
		"asking":  func(*control.Machine) {},
		"driving": func(m *control.Machine) { require.NoError(t, m.GrantFromOwner(t0, control.RemoteGrant{By: "grace"})) },
		"refused": func(m *control.Machine) { m.ReclaimKey(t0) },
	} {
		t.Run(name, func(t *testing.T) {
			m := control.New(control.Config{Keyboard: true})
			require.NoError(t, m.Request(t0, request("r", ada)))
			reach(m)
			phase := m.Phase()
			require.Error(t, m.MuteAgent(t0, "nobody", "grace"))
			require.Equal(t, phase, m.Phase())
			require.NoError(t, m.MuteAgent(t0, ada.Name, "grace"))
			require.Equal(t, control.Observing, m.Phase())
			st := m.State(t0)
			require.Equal(t, []any{ada.Name, control.Mute{Agent: ada.Name, By: "grace"}}, []any{st.MutedNames, st.Muted})
			if phase != control.Observing {
				require.Equal(t, "grace", m.LastEnd().Decider())
			}
			require.True(t, m.IsMuted(ada))
			var no *question.NotNow
			require.ErrorAs(t, m.Request(after(time.Hour), request("r", ada)), &no)
			require.True(t, no.Muted)

			require.ErrorIs(t, m.UnmuteAgent(after(time.Hour), ada.Name, "grace", m.Epoch()+1), control.ErrMoved)
			seen := m.Epoch()
			require.NoError(t, m.MuteAgent(after(time.Hour), ada.Name, "grace"))
			require.ErrorIs(t, m.UnmuteAgent(after(time.Hour), ada.Name, "grace", seen), control.ErrMoved, "decided before it was muted again")
			require.Error(t, m.UnmuteAgent(after(time.Hour), "nobody", "grace", m.Epoch()))
			require.True(t, m.IsMuted(ada))
			require.NoError(t, m.UnmuteAgent(after(time.Hour), ada.Name, "grace", m.Epoch()))
			require.Empty(t, m.State(t0).MutedNames)
			require.NoError(t, m.Request(after(2*time.Hour), request("r", ada)))
		})
	}
}

// A question has the time since when it stands.
func TestSinceWhenAnAgentAsks(t *testing.T) {
	m := control.New(control.Config{Keyboard: true})
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.NoError(t, m.Request(after(time.Minute), request("r2", ada)), "the same question, over another connection")
	require.Equal(t, t0, m.State(after(time.Hour)).Asked)
	require.NoError(t, m.GrantFromOwner(after(time.Minute), control.RemoteGrant{}))
	require.Zero(t, m.State(after(time.Hour)).Asked)
}

// An agent that only asks in a conversation, or writes, can be muted, from the menu and remotely.
func TestMutedWithoutARequest(t *testing.T) {
	bob := control.Agent{ID: "b-1", Name: "bob", Identity: "name bob"}
	m := control.New(control.Config{Keyboard: true})
	require.Error(t, m.MuteAgent(t0, "bob", "grace"))
	m.NoteAgent(bob)
	require.NoError(t, m.MuteAgent(t0, "bob", "grace"))
	var no *question.NotNow
	require.ErrorAs(t, m.AskRefusal(t0, control.Agent{ID: "b-2", Identity: "name bob"}), &no)
	require.True(t, no.Muted)

	m = control.New(control.Config{Keyboard: true})
	m.NoteAgent(bob)
	m.ReclaimKey(t0)
	require.Equal(t, "bob", m.State(t0).Mute.Agent)
	m.NoteAgent(ada)
	require.Equal(t, "bob", m.State(t0).Mute.Agent, "the menu is open")
	for n := range 100 {
		m.NoteAgent(control.Agent{ID: fmt.Sprint("x-", n), Name: "x"})
	}
	require.Error(t, m.MuteAgent(t0, "bob", "grace"), "of many the oldest are forgotten")
}

// An agent refused in a conversation may ask for something else at once, and has to wait when that
// is refused too.
func TestRefusedInAConversation(t *testing.T) {
	m := control.New(control.Config{Keyboard: true})
	waits := func(now time.Time) time.Duration {
		var no *question.NotNow
		if err := m.AskRefusal(now, ada); err != nil {
			require.ErrorAs(t, err, &no)
			require.Contains(t, err.Error(), "the user refused you: you may ask again in ")
			return no.For
		}
		return 0
	}
	m.NoteReply(t0, ada, true)
	require.Zero(t, waits(t0))
	m.NoteReply(t0, ada, true)
	require.Equal(t, question.FirstRefusalWait, waits(t0))
	require.Zero(t, waits(after(question.FirstRefusalWait)))
	for range 5 {
		m.NoteReply(t0, ada, true)
		require.Equal(t, question.SecondRefusalWait, waits(t0))
	}
	require.NoError(t, m.AskRefusal(t0, control.Agent{ID: "b-1", Name: "bob"}), "nobody else waits for that")
	require.NoError(t, m.Request(t0, request("r", ada)), "nor the keyboard")
	m.NoteReply(t0, ada, false)
	require.Zero(t, waits(t0))
	m.NoteReply(t0, ada, true)
	require.Zero(t, waits(t0))
	m.NoteReply(t0, ada, true)
	m.NoteReply(t0, ada, true)
	require.NoError(t, m.RefuseRequest(t0, "", ""))
	later := after(30 * time.Second)
	require.NotZero(t, waits(later))
	m.ReclaimKey(later)
	require.True(t, m.IsCurrent(question.Menu))
	require.Zero(t, waits(later))
}
