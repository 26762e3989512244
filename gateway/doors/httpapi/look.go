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

// callFor is Caller.Call with the type of the answer.
func callFor[T protocol.Message](ctx context.Context, v Caller, m protocol.Message) (T, error) {
	var none T
	answer, err := v.Call(ctx, m)
	if err != nil {
		return none, err
	}
	t, ok := answer.(T)
	if !ok {
		return none, fmt.Errorf("a %s was answered with a %s",
			protocol.KindOf(m), protocol.KindOf(answer))
	}
	return t, nil
}

func (a *API) listSessions(v Caller, _ http.ResponseWriter, r *http.Request) (any, error) {
	if q := parseQuery(r); q.err != nil {
		return nil, q.err
	}
	m := &protocol.SessionsList{RequestID: v.NextID()}
	return callFor[*protocol.SessionsListResult](r.Context(), v, m)
}

func (a *API) readSession(v Caller, _ http.ResponseWriter, r *http.Request) (any, error) {
	if q := parseQuery(r); q.err != nil {
		return nil, q.err
	}
	return a.findSession(v, r)
}

// findSession returns the session that the path names.
func (a *API) findSession(v Caller, r *http.Request) (info protocol.SessionInfo, err error) {
	m := &protocol.SessionsList{RequestID: v.NextID()}
	got, err := callFor[*protocol.SessionsListResult](r.Context(), v, m)
	if err != nil {
		return info, err
	}
	id := r.PathValue("id")
	isNamed := func(s protocol.SessionInfo) bool { return s.SessionID == id }
	at := slices.IndexFunc(got.Sessions, isNamed)
	if at < 0 && got.Incomplete != nil {
		message := "session " + strconv.Quote(id) + " is not known here, " +
			"and may be at another gateway: " + got.Incomplete.Words(time.Now())
		return info, failWith(protocol.CodeNoSession, message, nil)
	}
	if at < 0 {
		message := "unknown session " + strconv.Quote(id) + ": GET /v1/sessions lists the sessions"
		return info, failWith(protocol.CodeNoSession, message, nil)
	}
	return got.Sessions[at], nil
}

// readScreen returns the screen in one of its formats. Text, ANSI and pictures contain the
// program's output only; the facts about it are in header fields, which a program cannot write.
func (a *API) readScreen(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := parseQuery(r, "since", "format", "follow", "max_tokens")
	since := q.readNumber("since", 0, 0, 1<<63-1)
	format := q.readWord("format", "text", "json", "ansi", "png", "svg")
	follow, tokens := q.readFollow(format), q.readBudget(format)
	picture := format == "png" || format == "svg"
	switch {
	case q.err != nil:
		return nil, q.err
	case picture && a.cfg.Draw == nil:
		return nil, failWith(
			codeNotImplemented,
			"this gateway draws no pictures: ask for format=ansi, "+
				"or ask a gateway that `gateway serve` runs",
			nil,
		)
	}
	m := &protocol.Read{
		RequestID:  v.NextID(),
		SessionID:  r.PathValue("id"),
		Attributes: format == "ansi" || picture,
	}
	if format == "json" {
		m.SinceSeq, m.Follow, m.Scrollback = since, q.Has("follow"), follow
	}
	got, err := readFrame(v, r, m, format)
	if err != nil || format == "json" {
		return got, err
	}
	writeHead(w, got.Frame, text.Notes(got.Frame))
	switch {
	case q.Has("since") && got.Frame.Seq == since:
		w.WriteHeader(http.StatusNoContent)
	case format == "text":
		writePage(w, got.Frame, dialect.Whole(got.Frame, 0), tokens)
	case picture:
		err = a.drawPicture(w, r, format, got.Frame)
	default:
		writeText(w, strings.Join(got.Frame.Screen.Lines, "\x1b[0m\n")+"\x1b[0m")
	}
	return nil, err
}

// readFrame reads a frame. For a screen that the user hides it returns an error, except for JSON,
// where the frame says so.
func readFrame(
	v Caller, r *http.Request, m *protocol.Read, format string,
) (*protocol.ReadResult, error) {
	got, err := callFor[*protocol.ReadResult](r.Context(), v, m)
	if err != nil {
		return nil, err
	}
	if format != "json" && got.Frame.Blackout.ByUser() {
		return nil, failWith(protocol.CodeBlackout, text.Hidden(got.Frame.Blackout), nil)
	}
	return got, got.CheckFor(m)
}

// writeHead writes the facts about a frame and the notes for its reader into header fields.
func writeHead(w http.ResponseWriter, f *protocol.Frame, notes string) {
	h := w.Header()
	h.Set("Terminal-Rev", strconv.FormatUint(f.Seq, 10))
	h.Set("Terminal-Size", fmt.Sprintf("%dx%d", f.Screen.Cols, f.Screen.Rows))
	h.Set("Terminal-Cursor", fmt.Sprintf("%d,%d", f.Screen.Cursor.Row+1, f.Screen.Cursor.Col+1))
	if highlights := text.Highlights(f); highlights != "" {
		h.Set("Terminal-Highlights", asciiField(highlights))
	}
	h.Set("Terminal-Keyboard", asciiField(text.Keyboard(f.Keyboard, "", time.Now())))
	notes = text.Hidden(f.Blackout) + notes
	addNote(w, notes)
}

// addNote adds lines to the notes for the reader.
func addNote(w http.ResponseWriter, notes string) {
	before := w.Header().Get("Terminal-Note")
	lines := strings.Split(strings.TrimSpace(before+"\n"+notes), "\n")
	if notes = strings.Join(lines, "; "); notes != "" {
		w.Header().Set("Terminal-Note", asciiField(notes))
	}
}

// asciiField makes s fit for a header field.
func asciiField(s string) string {
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
	_, _ = w.Write([]byte(rows)) // fails if the caller went away
}

// drawPicture answers with a picture. It draws one at a time, because a large one takes much
// memory.
func (a *API) drawPicture(
	w http.ResponseWriter, r *http.Request, format string, f *protocol.Frame,
) error {
	if cells := f.Screen.Cols * f.Screen.Rows; format == "png" && cells > maxCells {
		message := fmt.Sprintf(
			"the screen has %d cells, and a PNG may have at most %d: ask for format=svg",
			cells, maxCells)
		return failWith(protocol.CodeTooLarge, message, nil)
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
	w.Header().
		Set("Content-Type", map[string]string{"png": "image/png", "svg": "image/svg+xml"}[format])
	// An SVG opened as a page of this gateway runs no script, even if a screen could hold one.
	w.Header().
		Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	_, _ = w.Write(b.Bytes())
	return nil
}

// readRowsQuery reads the query for rows of history or of a command, as text or JSON. Without the
// parameter lines it asks for at most most of them.
func (q *params) readRowsQuery(
	v Caller, r *http.Request, most uint64,
) (m *protocol.Read, format string, tokens int, err error) {
	match, context := q.readPattern("match"), q.readNumber("context", 0, 0, protocol.MaxContext)
	most = q.readNumber("lines", most, 1, protocol.MaxHistory)
	format, from := q.readWord("format", "text", "json"), q.readNumber("from", 0, 0, 1<<63-1)
	tokens = q.readBudget(format)
	if q.err != nil {
		return nil, "", 0, q.err
	}
	if q.Has("context") && match == "" {
		return nil, "", 0, badField("context", "needs match: the regular expression to look for")
	}
	m = &protocol.Read{
		RequestID:  v.NextID(),
		SessionID:  r.PathValue("id"),
		Scrollback: int(most), //nolint:gosec // bounded above
		Match:      match,
		Context:    int(context), //nolint:gosec // bounded above
	}
	if q.Has("from") {
		m.FromLine = &from
	}
	return m, format, tokens, nil
}

// readCommand returns the facts and the output of a command, by the shell's marks.
func (a *API) readCommand(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := parseQuery(r, "nth", "lines", "from", "match", "context", "format", "max_tokens")
	nth := int(q.readNumber("nth", 1, 1, protocol.MaxCommands)) //nolint:gosec // bounded
	m, format, tokens, err := q.readRowsQuery(v, r, protocol.MaxHistory)
	if err != nil {
		return nil, err
	}
	m.Command = nth
	got, err := readFrame(v, r, m, format)
	switch {
	case err != nil:
		return nil, err
	case format == "json":
		return got, nil
	}
	writeHead(w, got.Frame, text.Notes(got.Frame)+text.ConcealedOutput(got))
	w.Header().
		Set("Terminal-Command", asciiField(strings.Join(text.CommandFacts(got.Command), "; ")))
	writePage(w, got.Frame, dialect.Command(got, nth, m.FromLine != nil, time.Now()), tokens)
	return nil, nil
}

func (a *API) readHistory(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := parseQuery(r, "lines", "from", "match", "context", "format", "max_tokens")
	m, format, tokens, err := q.readRowsQuery(v, r, defaultHistory)
	if err != nil {
		return nil, err
	}
	match := m.Match
	got, err := readFrame(v, r, m, format)
	if err != nil || format == "json" {
		return got, err
	}
	switch {
	case match != "":
		writeHead(w, got.Frame, text.Notes(got.Frame)+text.ConcealedWarning(got.Found))
		writePage(w, got.Frame, dialect.Found(got), tokens)
		return nil, nil
	}
	writeHead(w, got.Frame,
		text.Notes(got.Frame)+text.UnseenWarning("row of history", got.HiddenText))
	writePage(w, got.Frame, dialect.History(got, q.Has("from")), tokens)
	return nil, nil
}
