package open

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/doors/page"
)

// A yes to a page that has since left lets no other page in: a server could exchange the pages
// while a person compares the words.
func TestAYesIsForThePageThatWasShown(t *testing.T) {
	var said bytes.Buffer
	q := admission{o: &opening{env: &cli.Env{Err: &said}, expires: time.Now().Add(time.Hour)}}
	knocks := func(words ...string) (waitingPage, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		return waitingPage{Visitor: page.Visitor{Words: words}, ctx: ctx, answer: make(chan bool, 1)}, cancel
	}
	mine, cancel := knocks("kettle", "fossil")
	q.startQuestion(mine)
	require.Contains(t, said.String(), "kettle fossil")
	cancel()
	<-q.pageGone()
	q.dropUnanswered()

	other, cancel := knocks("mango", "rocket")
	defer cancel()
	q.startQuestion(other)
	require.NotContains(t, said.String(), "mango")
	require.Contains(t, said.String(), "Press Enter to see its words")
	require.True(t, q.handleLine("y"))
	require.Empty(t, other.answer)
	require.Contains(t, said.String(), "mango rocket")
	require.True(t, q.handleLine("y"))
	require.True(t, <-other.answer)
	require.Nil(t, q.pageGone())
	require.False(t, q.handleLine(""), "it asks for a new link")

	third, cancel := knocks("berry")
	defer cancel()
	q.startQuestion(third)
	require.True(t, strings.HasSuffix(said.String(), "[y/N] "), "nobody is in the middle of an answer")
	require.True(t, q.handleLine(""))
	require.False(t, <-third.answer)
}
