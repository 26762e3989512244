package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const (
	defaultHistory = 200
	// maxCells bounds a picture in pixels: one cell takes about a hundred of them, each four bytes.
	maxCells = 40_000
)

// ask is Caller.Call with the type of the answer.
func ask[T protocol.Message](ctx context.Context, v Caller, m protocol.Message) (T, error) {
	var none T
	answer, err := v.Call(ctx, m)
	if err != nil {
		return none, err
	}
	t, ok := answer.(T)
	if !ok {
		return none, fmt.Errorf("a %s was answered with a %s", protocol.KindOf(m), protocol.KindOf(answer))
	}
	return t, nil
}

func (a *API) list(v Caller, _ http.ResponseWriter, r *http.Request) (any, error) {
	if q := query(r); q.err != nil {
		return nil, q.err
	}
	return ask[*protocol.SessionsListResult](r.Context(), v, &protocol.SessionsList{RequestID: v.NextID()})
}

func (a *API) session(v Caller, _ http.ResponseWriter, r *http.Request) (any, error) {
	if q := query(r); q.err != nil {
		return nil, q.err
	}
	return a.find(v, r)
}

// find is the session that the path names.
func (a *API) find(v Caller, r *http.Request) (info protocol.SessionInfo, err error) {
	got, err := ask[*protocol.SessionsListResult](r.Context(), v, &protocol.SessionsList{RequestID: v.NextID()})
	if err != nil {
		return info, err
	}
	id := r.PathValue("id")
	at := slices.IndexFunc(got.Sessions, func(s protocol.SessionInfo) bool { return s.SessionID == id })
	if at < 0 && got.Incomplete != nil {
		return info, fail(protocol.CodeNoSession, "session "+strconv.Quote(id)+" is not known here, and may be at another gateway: "+got.Incomplete.Words(time.Now()), nil)
	}
	if at < 0 {
		return info, fail(protocol.CodeNoSession, "unknown session "+strconv.Quote(id)+": GET /v1/sessions lists the sessions", nil)
	}
	return got.Sessions[at], nil
}

// screen shows the screen in one of its formats. Text, ANSI and pictures are nothing but the program's output; what is
// known about it stands in header fields, which a program cannot write.
func (a *API) screen(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := query(r, "since", "format", "follow", "max_tokens")
	since := q.number("since", 0, 0, 1<<63-1)
	format := q.word("format", "text", "json", "ansi", "png", "svg")
	follow, tokens := q.following(format), q.budget(format)
	picture := format == "png" || format == "svg"
	switch {
	case q.err != nil:
		return nil, q.err
	case picture && a.cfg.Draw == nil:
		return nil, fail(codeNotImplemented, "this gateway draws no pictures: ask for format=ansi, or ask a gateway that `gateway serve` runs", nil)
	}
	m := &protocol.Read{RequestID: v.NextID(), SessionID: r.PathValue("id"), Attributes: format == "ansi" || picture}
	if format == "json" {
		m.SinceSeq, m.Follow, m.Scrollback = since, q.Has("follow"), follow
	}
	got, err := read(v, r, m, format)
	if err != nil || format == "json" {
		return got, err
	}
	head(w, got.Frame, text.Notes(got.Frame))
	switch {
	case q.Has("since") && got.Frame.Seq == since:
		w.WriteHeader(http.StatusNoContent)
	case format == "text":
		page(w, got.Frame, dialect.Whole(got.Frame, 0), tokens)
	case picture:
		err = a.draw(w, r, format, got.Frame)
	default:
		writeText(w, strings.Join(got.Frame.Screen.Lines, "\x1b[0m\n")+"\x1b[0m")
	}
	return nil, err
}

// read asks for what is to be shown. It refuses to show nothing in place of a screen that the user hides; JSON says so in the
// frame.
func read(v Caller, r *http.Request, m *protocol.Read, format string) (*protocol.ReadResult, error) {
	got, err := ask[*protocol.ReadResult](r.Context(), v, m)
	if err == nil && format != "json" && got.Frame.Blackout.ByUser() {
		err = fail(protocol.CodeBlackout, text.Hidden(got.Frame.Blackout), nil)
	}
	return got, err
}

// head writes what is known about a frame, and what its reader has to be told.
func head(w http.ResponseWriter, f *protocol.Frame, notes string) {
	h := w.Header()
	h.Set("Terminal-Rev", strconv.FormatUint(f.Seq, 10))
	h.Set("Terminal-Size", fmt.Sprintf("%dx%d", f.Screen.Cols, f.Screen.Rows))
	h.Set("Terminal-Cursor", fmt.Sprintf("%d,%d", f.Screen.Cursor.Row+1, f.Screen.Cursor.Col+1))
	if highlights := text.Highlights(f); highlights != "" {
		h.Set("Terminal-Highlights", ascii(highlights))
	}
	h.Set("Terminal-Keyboard", ascii(text.Keyboard(f.Keyboard, "", time.Now())))
	notes = text.Hidden(f.Blackout) + notes
	note(w, notes)
}

// note adds to what the reader has to be told, a line each.
func note(w http.ResponseWriter, notes string) {
	was := w.Header().Get("Terminal-Note")
	if notes = strings.Join(strings.Split(strings.TrimSpace(was+"\n"+notes), "\n"), "; "); notes != "" {
		w.Header().Set("Terminal-Note", ascii(notes))
	}
}

// ascii is s as it may stand in a header field.
func ascii(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, s)
}

func writeText(w http.ResponseWriter, rows string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if rows != "" {
		rows += "\n"
	}
	_, _ = w.Write([]byte(rows)) // who went away meanwhile does not read it
}

// draw answers with a picture. One is drawn at a time: a large one takes much memory.
func (a *API) draw(w http.ResponseWriter, r *http.Request, format string, f *protocol.Frame) error {
	if cells := f.Screen.Cols * f.Screen.Rows; format == "png" && cells > maxCells {
		return fail(protocol.CodeTooLarge, fmt.Sprintf("the screen has %d cells, a PNG is drawn of at most %d: ask for format=svg", cells, maxCells), nil)
	}
	select {
	case a.drawing <- struct{}{}:
		defer func() { <-a.drawing }()
	case <-r.Context().Done():
		return nil
	}
	var b bytes.Buffer
	if err := a.cfg.Draw(&b, format, f.Screen); err != nil {
		return fmt.Errorf("draw the screen: %w", err)
	}
	w.Header().Set("Content-Type", map[string]string{"png": "image/png", "svg": "image/svg+xml"}[format])
	// An SVG opened as a page of ours runs nothing, whatever a screen can be made to hold.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	_, _ = w.Write(b.Bytes())
	return nil
}

// rows reads a question for rows of history or of a command, as text or JSON, at most lines of them unless it says how many.
func (q *params) rows(v Caller, r *http.Request, lines int64) (m *protocol.Read, format string, tokens int, err error) {
	match, context := q.pattern("match"), q.number("context", 0, 0, protocol.MaxContext)
	lines = int64(q.number("lines", uint64(lines), 1, protocol.MaxHistory)) //nolint:gosec // bounded
	format, from := q.word("format", "text", "json"), q.number("from", 0, 0, 1<<63-1)
	tokens = q.budget(format)
	if q.err != nil {
		return nil, "", 0, q.err
	}
	if q.Has("context") && match == "" {
		return nil, "", 0, badField("context", "needs match: what to look for")
	}
	m = &protocol.Read{RequestID: v.NextID(), SessionID: r.PathValue("id"), Scrollback: int(lines), Match: match, Context: int(context)} //nolint:gosec // bounded above
	if q.Has("from") {
		m.FromLine = &from
	}
	return m, format, tokens, nil
}

// command shows what the shell's marks tell of a command, and what it printed.
func (a *API) command(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := query(r, "nth", "lines", "from", "match", "context", "format", "max_tokens")
	nth := int(q.number("nth", 1, 1, protocol.MaxCommands)) //nolint:gosec // bounded
	m, format, tokens, err := q.rows(v, r, protocol.MaxHistory)
	if err != nil {
		return nil, err
	}
	m.Command = nth
	got, err := read(v, r, m, format)
	switch {
	case err != nil:
		return nil, err
	case got.Command == nil && !got.Frame.Blackout.ByUser():
		return nil, fail(codeNotImplemented, text.ErrNoCommands.Error(), nil)
	case format == "json":
		return got, nil
	}
	head(w, got.Frame, text.Notes(got.Frame)+text.ConcealedOutput(got))
	w.Header().Set("Terminal-Command", ascii(strings.Join(text.CommandFacts(got.Command), "; ")))
	page(w, got.Frame, dialect.Command(got, nth, m.FromLine != nil, time.Now()), tokens)
	return nil, nil
}

func (a *API) history(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := query(r, "lines", "from", "match", "context", "format", "max_tokens")
	m, format, tokens, err := q.rows(v, r, defaultHistory)
	if err != nil {
		return nil, err
	}
	match := m.Match
	got, err := read(v, r, m, format)
	if err != nil || format == "json" {
		return got, err
	}
	switch {
	case match != "" && got.Found == nil:
		return nil, fail(codeNotImplemented, text.ErrNoSearch.Error(), nil)
	case match != "":
		head(w, got.Frame, text.Notes(got.Frame)+text.Concealed(got.Found))
		page(w, got.Frame, dialect.Found(got), tokens)
		return nil, nil
	}
	head(w, got.Frame, text.Notes(got.Frame)+text.Unseen("row of history", got.HiddenText))
	page(w, got.Frame, dialect.History(got, q.Has("from")), tokens)
	return nil, nil
}
