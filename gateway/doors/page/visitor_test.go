package page_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/protocol/fake"
)

// admission lets a test answer for the user.
type admission struct {
	asked chan page.Visitor
	say   chan error
	left  chan string
}

func owners(t *testing.T) (*house, *admission) {
	t.Helper()
	a := &admission{asked: make(chan page.Visitor, 10), say: make(chan error), left: make(chan string, 10)}
	return openDoor(t, func(c *setup) {
		c.Role = auth.RoleOwner
		c.Admit = func(ctx context.Context, v page.Visitor) (func(), error) {
			a.asked <- v
			select {
			case err := <-a.say:
				return func() { a.left <- v.ID }, err
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}), a
}

func TestAnOwnersPageWaitsForTheUser(t *testing.T) {
	h, user := owners(t)
	b := h.browser()
	got := b.enter(h.opening.Code())
	require.Equal(t, true, got.fields["pending"])
	require.Equal(t, b.id, (<-user.asked).ID)
	early := b.ask(b.id, h.clock.time().UnixMilli())
	require.Equal(t, http.StatusConflict, early.status)
	require.Equal(t, true, early.fields["pending"])
	require.Nil(t, early.fields["ticket"])
	same := (&browser{h: h, key: b.key}).enter(h.opening.Code())
	require.Equal(t, b.id, same.fields["page"], "it is the same page, and asks nothing twice")
	user.say <- nil
	b.waitFor(http.StatusOK)
	require.Equal(t, "welcome", h.connect(b.ticket()).next()["type"])
	h.door.Close()
	require.Equal(t, b.id, <-user.left, "its key is taken back")
	require.Empty(t, user.asked)
}

// waitFor asks for tickets until the answer has a status.
func (b *browser) waitFor(status int) answer {
	b.h.t.Helper()
	for end := time.Now().Add(fake.Soon); ; time.Sleep(time.Millisecond) {
		b.h.clock.pass(time.Millisecond)
		got := b.ask(b.id, b.h.clock.time().UnixMilli())
		if got.status == status {
			return got
		}
		require.True(b.h.t, time.Now().Before(end), got.body)
	}
}

func TestAnOwnersPageThatTheUserRefuses(t *testing.T) {
	h, user := owners(t)
	b := h.browser()
	b.enter(h.opening.Code())
	user.say <- context.Canceled
	require.Contains(t, b.waitFor(http.StatusForbidden).fields["error"], "the page is closed: open a new link")
	require.Empty(t, user.left, "its key was never made known")
}

func TestAnUnansweredPageIsRefused(t *testing.T) {
	h := openDoor(t, func(c *setup) {
		c.Role, c.Times.Ask = auth.RoleOwner, time.Millisecond
		c.Admit = func(ctx context.Context, _ page.Visitor) (func(), error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	})
	b := h.browser()
	b.enter(h.opening.Code())
	b.waitFor(http.StatusForbidden)
}

// The user says yes as the door closes: the announced key is removed all the same.
func TestALateKeyIsRemoved(t *testing.T) {
	left, admitting := make(chan struct{}, 2), make(chan struct{})
	h := openDoor(t, func(c *setup) {
		c.Role = auth.RoleOwner
		c.Admit = func(ctx context.Context, _ page.Visitor) (func(), error) {
			close(admitting)
			<-ctx.Done()
			return func() { left <- struct{}{} }, nil
		}
	})
	h.browser().enter(h.opening.Code())
	<-admitting
	h.door.Close()
	require.Len(t, left, 1)
}

func TestTheNinthPageTakesThePlaceOfAnIdleOne(t *testing.T) {
	h := openDoor(t, nil)
	first := h.newPage()
	sockets := []*socket{h.connect(first.ticket())}
	idle := h.newPage()
	for range 6 {
		h.clock.pass(time.Millisecond)
		b := h.newPage()
		sockets = append(sockets, h.connect(b.ticket()))
	}
	for _, s := range sockets {
		require.Equal(t, "welcome", s.next()["type"])
	}
	ninth := h.newPage()
	require.Equal(t, http.StatusForbidden, idle.ask(idle.id, h.clock.time().UnixMilli()).status)
	last := h.connect(ninth.ticket())
	require.Equal(t, "welcome", last.next()["type"])

	got := h.browser().enter(h.opening.Code())
	require.Equal(t, http.StatusTooManyRequests, got.status, got.body)
	require.Contains(t, got.fields["error"], "8 pages are open already")
	last.leave()
	(<-h.nth(8)).ended(t)
	require.Eventually(t, func() bool { return h.browser().enter(h.opening.Code()).status == http.StatusOK }, fake.Soon, time.Millisecond)
}

// A page that has too many connections learns that, and not that its ticket is bad.
func TestConnectionsAreBounded(t *testing.T) {
	h := openDoor(t, nil)
	b := h.newPage()
	var sockets []*socket
	for range 16 {
		s := h.connect(b.ticket())
		require.Equal(t, "welcome", s.next()["type"])
		sockets = append(sockets, s)
	}
	const reason = "the pages of this opening have 16 connections already"
	code, why := h.connect(b.ticket()).end()
	require.Equal(t, 1013, code)
	require.Contains(t, why, reason)
	sockets[0].leave()
	(<-h.nth(1)).ended(t)
	require.Eventually(t, func() bool {
		return h.connect(b.ticket()).next()["type"] == "welcome"
	}, fake.Soon, time.Millisecond)
}

// The wall clock counts, as after a night in which the computer slept.
func TestADoorShutsWhenItsTimeIsOver(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Times.ClockCheck = time.Millisecond })
	s, l := h.visit()
	h.clock.pass(2 * time.Hour)
	s.ends(1008, "run gateway open again")
	l.ended(t)
	<-h.opening.Done()
}
