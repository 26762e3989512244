package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/observe"
	"terminalproxy/protocol"
)

// howToStart is what has to happen before there is anything to see.
func (s *Server) howToStart() string {
	const user = "the user starts one in their own terminal with: proxy --agent PROGRAM"
	if s.cfg.Programs == nil {
		return user
	}
	return "start one of your own with terminal_run; " + user
}

type listArgs struct{}

func (s *Server) list(ctx context.Context, _ *mcp.CallToolRequest, _ listArgs) (string, error) {
	sessions, err := s.cfg.Terminals.Sessions(ctx)
	if err != nil {
		return "", err
	}
	if len(sessions) == 0 {
		return "there are no terminals: " + s.howToStart(), nil
	}
	text, left := observe.Oldest(s.lines(sessions))
	if left > 0 {
		text += fmt.Sprintf("\n%d more are left out", left)
	}
	return text, nil
}

func (s *Server) lines(sessions []protocol.SessionInfo) string {
	lines := make([]string, len(sessions))
	for i, info := range sessions {
		lines[i] = observe.Line(info, s.me(), s.cfg.Now())
	}
	return strings.Join(lines, "\n")
}

// find is the terminal that a call means: the one with that id, or without an id the only one that runs. A wrong id is
// an error and never another terminal.
func (s *Server) find(ctx context.Context, id string) (protocol.SessionInfo, error) {
	sessions, err := s.cfg.Terminals.Sessions(ctx)
	if err != nil {
		return protocol.SessionInfo{}, err
	}
	var running []protocol.SessionInfo
	for _, info := range sessions {
		if id != "" && info.SessionID == id {
			return info, nil
		}
		if info.State == protocol.StateRunning {
			running = append(running, info)
		}
	}
	known, left := observe.Oldest(s.lines(sessions))
	if left > 0 {
		known += "\n..."
	}
	switch {
	case len(sessions) == 0:
		return protocol.SessionInfo{}, fmt.Errorf("there are no terminals: %s", s.howToStart())
	case id != "":
		return protocol.SessionInfo{}, fmt.Errorf("there is no terminal %q; pass one of these ids as terminal:\n%s", observe.Name(id), known)
	case len(running) == 1:
		return running[0], nil
	case len(running) == 0:
		return protocol.SessionInfo{}, fmt.Errorf("no terminal is running; pass one of these ids to read what is left of it, or: %s\n%s", s.howToStart(), known)
	}
	return protocol.SessionInfo{}, fmt.Errorf("there are several terminals; pass one of these ids as terminal:\n%s", known)
}

type readArgs struct {
	Terminal string  `json:"terminal"`
	View     string  `json:"view"`
	SinceRev *uint64 `json:"since_rev"`
	Lines    int     `json:"lines"`
	Image    bool    `json:"image"` // see illustrate
}

func (s *Server) read(ctx context.Context, _ *mcp.CallToolRequest, in readArgs) (string, error) {
	if in.View == "changes" && in.SinceRev == nil {
		return "", fmt.Errorf("view changes needs since_rev: the rev in the header of what you saw last")
	}
	if in.View != "changes" && in.SinceRev != nil {
		return "", fmt.Errorf("since_rev belongs to view changes")
	}
	if in.View == "changes" && in.Lines > 0 {
		return "", fmt.Errorf("lines belongs to the views screen and history")
	}
	if in.View == "history" && in.Image {
		return "", fmt.Errorf("an image shows the screen and no history: leave view or image out")
	}
	info, err := s.find(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	ask := &protocol.Read{SessionID: info.SessionID, Notes: true}
	switch in.View {
	case "changes":
		ask.SinceSeq = *in.SinceRev
	case "history":
		if ask.Scrollback = in.Lines; in.Lines == 0 {
			ask.Scrollback = defaultHistory
		}
	}
	got, err := s.cfg.Terminals.Read(ctx, ask)
	if err != nil {
		return "", err
	}
	if w := got.Frame.Blackout; w.Hidden() {
		return "", &protocol.Error{Code: protocol.CodeBlackout, Message: observe.Withheld(w)}
	}
	text := ""
	switch in.View {
	case "changes":
		text = s.changes(info, got.Frame, ask.SinceSeq)
	case "history":
		text = s.history(info, got)
	default:
		text = s.screen(info, got.Frame, in.Lines)
	}
	return noted(got.Notes, text), nil
}

// noted is an answer with what the user wrote to the agent before it.
func noted(notes []string, text string) string {
	if len(notes) == 0 {
		return text
	}
	return observe.Messages(notes) + "\n" + text
}

// header is the first line over a frame, and what has to be known of it.
func (s *Server) header(info protocol.SessionInfo, f *protocol.Frame) string {
	return observe.Header(info, f, s.me(), s.cfg.Now()) + observe.Notes(f)
}

func (s *Server) fence(rows string) string { return observe.Fence(s.cfg.Mark(), rows) }

// screen is a whole frame, or its last rows only.
func (s *Server) screen(info protocol.SessionInfo, f *protocol.Frame, last int) string {
	if f.Blackout.Hidden() {
		return s.header(info, f)
	}
	lines := f.Screen.Lines
	note := ""
	if last > 0 && last < len(lines) {
		note = fmt.Sprintf("\nrows %d to %d:", len(lines)-last+1, len(lines))
		lines = lines[len(lines)-last:]
	}
	rows, left := observe.Newest(observe.Rows(lines))
	if left > 0 {
		note += fmt.Sprintf("\nthe first %d of these rows are left out, they are too long", left)
	}
	return s.header(info, f) + note + "\n" + s.fence(rows)
}

// changes is the rows that changed, or the whole screen where the proxy found that shorter.
func (s *Server) changes(info protocol.SessionInfo, f *protocol.Frame, since uint64) string {
	switch {
	case f.Seq == since:
		return s.header(info, f) + fmt.Sprintf("\nnothing changed since rev %d", since)
	case f.Screen.Lines != nil:
		return s.header(info, f) + "\n" + s.whole(f.Screen.Lines)
	}
	return s.header(info, f) + "\n" + s.changed(f.Changed, since)
}

func (s *Server) whole(lines []string) string {
	rows, left := observe.Newest(observe.Rows(lines))
	note := "the whole screen:\n"
	if left > 0 {
		note = fmt.Sprintf("the screen, its first %d rows left out, they are too long:\n", left)
	}
	return note + s.fence(rows)
}

func (s *Server) changed(changed []protocol.Row, since uint64) string {
	if len(changed) == 0 {
		return fmt.Sprintf("no row changed since rev %d", since)
	}
	rows, left := observe.Oldest(observe.Numbered(changed))
	note := fmt.Sprintf("rows changed since rev %d (number| text):\n", since)
	if left > 0 {
		note = fmt.Sprintf("rows changed since rev %d (number| text), the last %d left out, they are too long:\n", since, left)
	}
	return note + s.fence(rows)
}

// history is what scrolled off the screen and then the screen, the oldest left out first.
func (s *Server) history(info protocol.SessionInfo, got *protocol.ReadResult) string {
	screen := observe.Rows(got.Frame.Screen.Lines)
	above := strings.TrimSuffix(observe.Clean(got.Text), "\n")
	count := 0
	if got.Text != "" {
		count = strings.Count(above, "\n") + 1
		screen = above + "\n" + screen
	}
	rows, left := observe.Newest(screen)
	note := fmt.Sprintf("%d rows of history, then the screen", count)
	if count == 0 {
		note = "no rows of history, the screen is all there is"
	}
	if more := got.Frame.Screen.Scrollback - count; more > 0 && count > 0 {
		note += fmt.Sprintf(" (%d older rows exist: ask for more lines)", more)
	}
	if left > 0 {
		note += fmt.Sprintf("; the oldest %d of these rows are left out, they are too long", left)
	}
	return s.header(info, got.Frame) + observe.Unseen("row of history", got.HiddenText) + "\n" + note + ":\n" + s.fence(rows)
}

type waitArgs struct {
	Terminal  string `json:"terminal"`
	For       string `json:"for"`
	Value     string `json:"value"`
	TimeoutMs *int64 `json:"timeout_ms"`
	Image     bool   `json:"image"` // see illustrate
}

func (s *Server) wait(ctx context.Context, req *mcp.CallToolRequest, in waitArgs) (string, error) {
	until, err := observe.Until(in.For, in.Value)
	if err != nil {
		return "", err
	}
	info, err := s.find(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	ask := &protocol.Wait{SessionID: info.SessionID, Until: until, TimeoutMs: millis(in.TimeoutMs, defaultTimeoutMs)}
	if until.Changed {
		// "Changed" is measured from now on: what the agent was shown before is the business of view changes.
		now, err := s.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: info.SessionID})
		if err != nil {
			return "", err
		}
		ask.AfterSeq = now.Frame.Seq
	}
	got, frame, err := s.await(ctx, req, ask, in.For)
	if err != nil {
		return "", err
	}
	return noted(got.Notes, s.matched(got, until)+"\n"+s.screen(info, frame, 0)), nil
}

// await waits for a fact while it tells the client that it still does, and always has a frame at the end.
func (s *Server) await(ctx context.Context, req *mcp.CallToolRequest, ask *protocol.Wait, what string) (*protocol.WaitResult, *protocol.Frame, error) {
	defer s.progress(ctx, req, "waiting for "+what, time.Duration(ask.TimeoutMs)*time.Millisecond)()
	got, err := s.cfg.Terminals.Wait(ctx, ask)
	if err != nil {
		return nil, nil, err
	}
	if got.Frame != nil && got.Frame.Screen.Lines != nil {
		return got, got.Frame, nil
	}
	read, err := s.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: ask.SessionID})
	if err != nil {
		return nil, nil, err
	}
	return got, read.Frame, nil
}

// matched is the first line of a wait's answer. What matched is on the screen below it: a line of ours does not repeat
// words of a program.
func (s *Server) matched(got *protocol.WaitResult, until protocol.Until) string {
	switch {
	case !got.Met && got.ExitCode != nil:
		return fmt.Sprintf("matched: false (the program ended with exit status %d: it will not come true)", *got.ExitCode)
	case !got.Met:
		return "matched: false (timeout)"
	case got.ExitCode != nil:
		return fmt.Sprintf("matched: true (exit status %d)", *got.ExitCode)
	case until.Control && got.Matched != "":
		if got.Matched == "granted" && got.Frame != nil {
			s.learn(got.Frame.Keyboard.AgentID)
		}
		return "matched: true (" + observe.Name(got.Matched) + ")"
	case until.Waiting:
		if how := observe.Met(got); how != "" {
			return "matched: true (" + how + ")"
		}
	}
	return "matched: true"
}

// progress sends notes to a client that asked for them, until the function that it returns is called.
func (s *Server) progress(ctx context.Context, req *mcp.CallToolRequest, message string, total time.Duration) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	began := time.Now()
	go func() { // ends with ctx; stop waits for it, so that no note follows the answer
		defer close(ended)
		tick := time.NewTicker(s.cfg.ProgressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			note := &mcp.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: time.Since(began).Seconds(), Total: total.Seconds()}
			if err := req.Session.NotifyProgress(ctx, note); err != nil {
				s.cfg.Log.Debug("progress note not sent", "error", err)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// millis is a time limit as given, or its default.
func millis(given *int64, otherwise int64) int64 {
	if given == nil {
		return otherwise
	}
	return max(1, *given) // 0 would be no limit on the wire
}
