package page_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page"
)

// openAnother opens a second opening of the door.
func (h *house) openAnother(change func(*page.Terms)) *page.Opening {
	h.t.Helper()
	terms := page.Terms{
		Role: auth.RoleViewer, Expires: time.Now().Add(time.Hour),
		Dial: func(context.Context) (page.Link, error) { return newLink(), nil },
	}
	change(&terms)
	o, err := h.door.Open(terms)
	require.NoError(h.t, err)
	return o
}

func TestADoorHasManyLinks(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.Session = "vim-1" })
	second := h.openAnother(func(terms *page.Terms) { terms.Session = "vim-2" })
	a, b := h.browser(), h.browser()
	b.enter(second.Code())
	a.enter(h.opening.Code())
	require.Equal(t, "vim-1", h.connect(a.ticket()).next()["session"])
	other := h.connect(b.ticket())
	require.Equal(t, "vim-2", other.next()["session"])
	code := second.Code()
	ticket := b.ticket()

	second.EndOpening(errors.New("the token was revoked"))
	<-second.Done()
	require.EqualError(t, second.Err(), "the token was revoked")
	status, why := other.end()
	require.Equal(t, 1008, status)
	require.Equal(t, "the token was revoked", why)
	require.Equal(t, http.StatusForbidden, h.browser().enter(code).status, "a link of an opening that is over")
	status, _ = h.connect(ticket).end()
	require.Equal(t, 1008, status)
	require.Equal(t, http.StatusForbidden, b.ask(b.id, h.clock.time().UnixMilli()).status)
	require.Equal(t, "welcome", h.connect(a.ticket()).next()["type"], "the other one goes on")
}

// A code belongs to one opening, and so do its pages' places: the pages of another do not push them
// out.
func TestOpeningsKeepApart(t *testing.T) {
	h := openDoor(t, nil)
	first := h.newPage()
	second := h.openAnother(func(*page.Terms) {})
	for range 9 {
		h.clock.pass(time.Millisecond)
		require.Equal(t, http.StatusOK, h.browser().enter(second.Code()).status)
	}
	require.NotEmpty(t, first.ticket())
	same := &browser{h: h, key: first.key}
	require.Equal(t, http.StatusOK, same.enter(second.Code()).status)
	require.NotEqual(t, first.id, same.id, "the same key in another opening is another page")
}

// A server that has just started says that it may soon know the page, not that the page is over.
func TestAPageMayBecomeKnownSoon(t *testing.T) {
	h := openDoor(t, func(c *setup) { c.GathersUntil = time.Now().Add(30 * time.Second) })
	b := h.browser()
	got := b.ask("p-aaaaaaaaaa", h.clock.time().UnixMilli())
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, got.fields["error"], "the server has just started and does not know the page yet: try again")
	h.clock.pass(time.Minute)
	require.Equal(t, http.StatusForbidden, b.ask("p-aaaaaaaaaa", h.clock.time().UnixMilli()).status)
}

// If the server has no room for a page, the page reads why, and returns later.
func TestAPageReadsThatThereIsNoRoom(t *testing.T) {
	h := openDoor(t, func(c *setup) {
		c.Count = func(*http.Request) error { return errors.New("there are 64 connections already") }
	})
	code, why := h.connect(h.newPage().ticket()).end()
	require.Equal(t, 1013, code)
	require.Equal(t, "there are 64 connections already", why)
	require.Empty(t, h.links)
}

// A closing door tells its pages to reconnect, also those that were about to say hello.
func TestAClosingDoorTellsItsPages(t *testing.T) {
	h := openDoor(t, nil)
	s, l := h.visit()
	silent, _ := h.knock()
	h.door.CloseForMove()
	code, _ := s.end()
	require.Equal(t, 1012, code)
	code, _ = silent.end()
	require.Equal(t, 1012, code)
	l.ended(t)
}
