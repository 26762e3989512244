package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// history is a session with a hundred rows of history, numbered from 50 on, and a menu.
func history(_ context.Context, m protocol.Message) (protocol.Message, error) {
	read, ok := m.(*protocol.Read)
	if !ok {
		return plain(context.Background(), m)
	}
	r := &protocol.ReadResult{ID: "r", RequestID: read.RequestID, SessionID: read.SessionID, Frame: frame(), OldestLine: 50, NextLine: 150}
	r.Frame.Screen.Scrollback = 100
	r.Frame.Highlights = []protocol.Highlight{{Row: 1, Col: 0, Cols: 3, Text: "twö"}}
	if read.Follow {
		r.Frame.Screen.Lines, r.Frame.Since, r.Frame.Moved = nil, read.SinceSeq, 2
	}
	first := uint64(150 - min(read.Scrollback, 100)) //nolint:gosec // not negative
	if read.FromLine != nil {
		if first = *read.FromLine; first < 50 {
			return nil, &protocol.Error{Code: protocol.CodeBadMessage, Field: "fromLine", Message: "line is no longer kept"}
		}
		r.NextLine = min(150, first+uint64(read.Scrollback)) //nolint:gosec // not negative
	}
	r.FirstLine = first
	var rows []string
	for i := first; i < r.NextLine; i++ {
		rows = append(rows, fmt.Sprintf("row number %d", i))
	}
	r.Text = strings.Join(rows, "\n")
	return r, nil
}

func TestHistoryByNumberAndWithinABudget(t *testing.T) {
	server := serve(t, &caller{role: RoleViewer, answer: history})
	const path = "/v1/sessions/vim-1/"
	got := server.do("GET", path+"history?from=60&lines=2", "")
	require.Equal(t, "row number 60\nrow number 61\n", got.body)
	require.Equal(t, "2 rows of history, lines 60 to 61 (it goes on: history?from=62&lines=2) (10 older rows exist, from line 50 on)", got.header.Get("Terminal-Note"))
	require.Equal(t, `row 2 columns 1-3 "tw?"`, got.header.Get("Terminal-Highlights"))
	require.Contains(t, server.do("GET", path+"history?from=60&lines=2&format=json", "").body, `"nextLine":62`)
	require.Contains(t, server.do("GET", path+"screen?since=3&follow=10&format=json", "").body, `"moved":2`)

	for _, tokens := range []int{200, 300, 777} {
		got := server.do("GET", path+fmt.Sprintf("history?max_tokens=%d", tokens), "")
		note := got.header.Get("Terminal-Note")
		require.Contains(t, note, "left out because they are too long for max_tokens (history?from=50&lines=")
		require.LessOrEqual(t, text.Tokens(got.body+note+got.header.Get("Terminal-Highlights")), tokens)
		require.Contains(t, got.body, "row number 149\n")
	}
	for query, want := range map[string]string{
		"history?from=3":                   "no longer kept",
		"history?from=x":                   "from",
		"history?max_tokens=0":             "give 200 or more",
		"screen?max_tokens=0":              "give 200 or more",
		"screen?max_tokens=99999":          "the limit is 50000",
		"screen?max_tokens=500&format=svg": "format=text",
		"screen?follow=3":                  "follow",
		"screen?follow=3&format=json":      "give both",
	} {
		got := server.do("GET", path+query, "")
		require.Equal(t, http.StatusBadRequest, got.status, query)
		require.Contains(t, got.body, want, query)
	}
}
