package question

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Text that the user types or pastes goes into the one buffer that is wiped, and nowhere else.
func TestAnAnswerIsNotCopied(t *testing.T) {
	q, now := new(Queue), time.Now()
	c := New(Secret, Agent{}, nil)
	q.Add(now, c)
	q.openLine(c)
	typed := []byte("a pass word äꪪ世")
	for _, pasted := range []bool{false, true} {
		require.Zero(t, testing.AllocsPerRun(10, func() { q.wipe(); q.addBytes(now, typed, pasted) }))
		require.Equal(t, string(typed), string(q.text))
	}
	text := q.text
	c.Submit = func(_ time.Time, b []byte) bool { return string(b) == string(typed) }
	require.Equal(t, "ls", string(q.addBytes(now, []byte("\rls"), false)))
	require.Empty(t, strings.Trim(string(text[:cap(text)]), "\x00"), "it is forgotten")
	require.Nil(t, q.Current())
}

// A message has other bounds than an answer, and an empty one closes.
func TestAMessageIsTyped(t *testing.T) {
	q, now := new(Queue), time.Now()
	sent := ""
	c := New(Message, Agent{}, nil)
	c.Submit = func(_ time.Time, b []byte) bool { sent = string(b); return true }
	q.Open(now, c)
	q.addBytes(now, []byte("h\u200bi\x7f\x7fx\x15"+strings.Repeat("ä", MaxMessage-1)), false)
	q.addBytes(now, []byte("\rbc"), true)
	q.addBytes(now, []byte("\r"), false)
	require.Equal(t, strings.Repeat("ä", MaxMessage-1)+" ", sent)
	q.Open(now, c)
	sent = "none"
	q.addBytes(now, []byte("\r"), false)
	require.Equal(t, "none", sent)
	require.Nil(t, q.Current())
}
