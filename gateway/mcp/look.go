package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
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
	list, err := s.cfg.Terminals.SessionList(ctx)
	if err != nil {
		return "", err
	}
	lacks := s.lacks(list)
	if len(list.Sessions) == 0 {
		return text.Join("there are no terminals: "+s.howToStart(), lacks), nil
	}
	shown, ended := text.Listed(list.Sessions)
	titles := text.Fence(s.cfg.Mark(), "titles", text.Titles(shown))
	return text.Join(text.Join(s.lines(shown, ended), lacks), titles), nil
}

// lacks says that a list misses terminals, "" where it is whole.
func (s *Server) lacks(list *protocol.SessionsListResult) string {
	if list.Incomplete == nil {
		return ""
	}
	return "the list of terminals is incomplete: " + text.Incomplete(list.Incomplete, s.cfg.Now())
}

// lines is a list of sessions, of which ended more are not in it.
func (s *Server) lines(sessions []protocol.SessionInfo, ended int) string {
	lines := make([]string, len(sessions))
	for i, info := range sessions {
		lines[i] = text.Line(info, s.me(), s.cfg.Now())
	}
	out, left := text.Oldest(strings.Join(lines, "\n"))
	if left > 0 {
		out += fmt.Sprintf("\n%d more are left out", left)
	}
	if ended > 0 {
		out += "\n" + text.MoreEnded(ended)
	}
	return out
}

// find is the terminal that a call means: the one with that id or name, or whose id or name alone begins so; without a word,
// the only one that runs. A word that fits none, or several, is an error and never another terminal.
func (s *Server) find(ctx context.Context, id string) (protocol.SessionInfo, error) {
	list, err := s.cfg.Terminals.SessionList(ctx)
	if err != nil {
		return protocol.SessionInfo{}, err
	}
	sessions := list.Sessions
	fits := text.Find(sessions, id)
	if len(fits) == 1 {
		return fits[0], nil
	}
	known := text.Join(s.lines(text.Candidates(sessions)), s.lacks(list))
	switch {
	case len(sessions) == 0:
		return protocol.SessionInfo{}, errors.New(text.Join("there are no terminals: "+s.howToStart(), s.lacks(list)))
	case id != "" && len(fits) > 1:
		return protocol.SessionInfo{}, fmt.Errorf("several terminals are called %q; pass one of these ids as terminal:\n%s", text.Name(id), s.lines(fits, 0))
	case id != "":
		return protocol.SessionInfo{}, fmt.Errorf("unknown terminal %q; pass one of these ids as terminal:\n%s", text.Name(id), known)
	case len(fits) == 0:
		return protocol.SessionInfo{}, fmt.Errorf("no terminal is running; pass one of these ids to read what is left of it, or: %s\n%s", s.howToStart(), known)
	}
	last := ""
	if shown, _ := text.Candidates(sessions); shown[0].UsedAt > 0 {
		last = " (the user used the first one last)"
	}
	return protocol.SessionInfo{}, fmt.Errorf("there are several terminals; pass one of these ids as terminal%s:\n%s", last, known)
}

type readArgs struct {
	Terminal  string  `json:"terminal"`
	View      string  `json:"view"`
	SinceRev  *uint64 `json:"since_rev"`
	Lines     int     `json:"lines"`
	Start     *uint64 `json:"start"`
	Match     string  `json:"match"`
	Context   int     `json:"context"`
	MaxTokens *int    `json:"max_tokens"`
	Image     bool    `json:"image"` // see illustrate
}

// commandViews are the views of a command: the last one, and the one before it.
var commandViews = []string{"command", "command-before"}

// command is which command is asked for, counted from the last one, 0 for none.
func (in readArgs) command() int { return 1 + slices.Index(commandViews, in.View) }

// check finds parameters that do not belong together.
func (in readArgs) check() error {
	switch {
	case in.View == chatView && (in.SinceRev != nil || in.Lines > 0 || in.Start != nil || in.Match != "" || in.Image):
		return errors.New("view chat takes no other parameter but max_tokens")
	case in.View == "changes" && in.SinceRev == nil:
		return errors.New("view changes needs since_rev: the rev in the header of what you saw last")
	case in.View != "changes" && in.SinceRev != nil:
		return errors.New("since_rev needs view changes")
	case in.View == "changes" && in.Lines > 0:
		return errors.New("lines needs view screen or history")
	case in.View != "history" && in.command() == 0 && in.Match != "":
		return errors.New("match needs view history or command")
	case in.Context > 0 && in.Match == "":
		return errors.New("context needs match: what to look for")
	case in.View != "history" && in.command() == 0 && in.Start != nil:
		return errors.New("start needs view history or command")
	case (in.View == "history" || in.command() > 0) && in.Image:
		return fmt.Errorf("an image shows the screen only, not %s: leave view or image out", in.View)
	}
	return nil
}

func (s *Server) read(ctx context.Context, req *mcp.CallToolRequest, in readArgs) (string, error) {
	tokens, err := textBudget(req, in.MaxTokens, in.Image)
	if err == nil {
		err = in.check()
	}
	if err == nil && in.Match != "" {
		if err = text.CheckPattern(in.Match); err != nil {
			err = fmt.Errorf("match: %w", err)
		}
	}
	if err != nil {
		return "", err
	}
	if in.View == chatView {
		return s.readChat(ctx, in.Terminal, tokens)
	}
	ask := &protocol.Read{SessionID: in.Terminal, Notes: true}
	switch in.View {
	case "changes":
		ask.SinceSeq, ask.Follow, ask.Scrollback = *in.SinceRev, true, protocol.MaxHistory
	case "history":
		ask.FromLine, ask.Match, ask.Context = in.Start, in.Match, in.Context
		if ask.Scrollback = in.Lines; in.Lines == 0 {
			ask.Scrollback = defaultHistory
		}
	case commandViews[0], commandViews[1]:
		ask.Command, ask.FromLine, ask.Match, ask.Context = in.command(), in.Start, in.Match, in.Context
		ask.Scrollback = cmp.Or(in.Lines, protocol.MaxHistory)
	}
	info, got, err := s.look(ctx, ask)
	if err != nil {
		return "", err
	}
	if w := got.Frame.Blackout; w.ByUser() {
		return "", &protocol.Error{Code: protocol.CodeBlackout, Message: text.Hidden(w)}
	}
	said := text.Messages(got.Notes)
	switch {
	case ask.Command > 0 && got.Command == nil:
		return "", text.ErrNoCommands
	case ask.Command > 0:
		return s.showCommand(ctx, info, got, dialect.Command(got, ask.Command, in.Start != nil, s.cfg.Now()), tokens), nil
	case in.Match != "" && got.Found == nil:
		return "", text.ErrNoSearch
	case in.Match != "":
		return s.show(ctx, info, got.Frame, dialect.Found(got), tokens, said, text.Concealed(got.Found)), nil
	}
	s.forget(ctx, info.SessionID) // who looks wants to know all
	switch in.View {
	case "changes":
		return s.show(ctx, info, got.Frame, dialect.Changes(got, ask.SinceSeq), tokens, said, unseen(got)), nil
	case "history":
		return s.show(ctx, info, got.Frame, dialect.History(got, in.Start != nil), tokens, said, unseen(got)), nil
	}
	return s.show(ctx, info, got.Frame, dialect.Whole(got.Frame, in.Lines), tokens, said, ""), nil
}

// look is the terminal that ask means, and its screen. Where ask names the terminal, both are asked for at once.
func (s *Server) look(ctx context.Context, ask *protocol.Read) (protocol.SessionInfo, *protocol.ReadResult, error) {
	if ask.SessionID == "" {
		info, err := s.find(ctx, "")
		if err != nil {
			return info, nil, err
		}
		ask.SessionID = info.SessionID
		got, err := s.cfg.Terminals.Read(ctx, ask)
		return info, got, err
	}
	var got *protocol.ReadResult
	var failed error
	read := make(chan struct{})
	go func() { // ends with the answer, or with ctx
		defer close(read)
		got, failed = s.cfg.Terminals.Read(ctx, ask)
	}()
	info, err := s.find(ctx, ask.SessionID)
	<-read
	if err != nil { // it says which terminals there are
		return info, nil, err
	}
	if info.SessionID != ask.SessionID { // a name
		ask.SessionID = info.SessionID
		got, failed = s.cfg.Terminals.Read(ctx, ask)
	}
	return info, got, failed
}

// textBudget is how many tokens an answer may take besides the line about a picture. The picture itself does not count: what
// that takes is the model's own affair.
func textBudget(req *mcp.CallToolRequest, given *int, image bool) (int, error) {
	const line = 100
	tokens, err := callerOf(req).limit(given)
	switch {
	case err != nil || !image:
		return tokens, err
	case tokens < text.MinTokens+line:
		return 0, fmt.Errorf("%s is %d, and with an image it takes %d or more", dialect.Limit, tokens, text.MinTokens+line)
	}
	return tokens - line, nil
}

// unseen is the note about rows of history with text that the user cannot see.
func unseen(got *protocol.ReadResult) string { return text.Unseen("row of history", got.HiddenText) }

// dialect is how an agent asks for more.
var dialect = text.Dialect{
	Limit: "max_tokens",
	Lines: func(first uint64, n int) string {
		return fmt.Sprintf("view history with start %d and lines %d", first, n)
	},
	Output: func(nth int, first uint64, n int) string {
		return fmt.Sprintf("view %s with start %d and lines %d", commandViews[nth-1], first, n)
	},
	Older: "view history with more lines, or with start",
}

// show is an answer: what was said before, the header, more notes, each after a line feed, and the page of a frame with what
// stands out there. What the reader was told of the terminal before is left out.
func (s *Server) show(ctx context.Context, info protocol.SessionInfo, f *protocol.Frame, p text.Page, tokens int, before, notes string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told(ctx, info.SessionID)
	header := text.Header(info, f, s.self, s.cfg.Now(), told)
	p.Brief = text.Join(before, header) // notes are about rows
	p.Head = p.Brief + told.Notes(f) + notes
	over := info.State == protocol.StateExited || f.Activity != nil && f.Activity.State == protocol.StateExited
	if f.Blackout.ByUser() || p.Bare && over {
		return p.Head
	}
	if !p.Part {
		told.Rev = max(told.Rev, f.Seq)
	}
	if p.Bare {
		return p.Fit(tokens, dialect.Limit)
	}
	mark, kind, title, highlights := s.cfg.Mark(), cmp.Or(p.Kind, "no rows"), "", ""
	if !over { // a screen that nobody operates
		title, highlights = told.Title(f), told.Highlights(f)
	}
	fenced := func(highlights string) func(string) string {
		return func(rows string) string { return text.Fence(mark, kind, rows, title, highlights) }
	}
	p.Rows = text.Gaps(p.Rows)
	if highlights != "" {
		plain := p
		plain.Wrap = fenced("highlighted: left out for " + dialect.Limit)
		p.Plain = &plain
	}
	p.Wrap = fenced(highlights)
	return p.Fit(tokens, dialect.Limit)
}

// showCommand is an answer about a command. What the screen shows beside it is not told.
func (s *Server) showCommand(ctx context.Context, info protocol.SessionInfo, got *protocol.ReadResult, p text.Page, tokens int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	mark, kind := s.cfg.Mark(), p.Kind
	p.Head = text.WithMessages(got.Notes, text.Header(info, got.Frame, s.self, s.cfg.Now(), s.told(ctx, info.SessionID))+text.ConcealedOutput(got))
	p.Rows = text.Gaps(p.Rows)
	p.Wrap = func(rows string) string { return text.Fence(mark, kind, rows, text.CommandFacts(got.Command)...) }
	return p.Fit(tokens, dialect.Limit)
}

type waitArgs struct {
	Terminal  string   `json:"terminal"`
	For       string   `json:"for"`
	Value     string   `json:"value"`
	SinceRev  *uint64  `json:"since_rev"`
	MaxTokens *int     `json:"max_tokens"`
	Image     bool     `json:"image"` // see illustrate
	TimeoutMs *int64   `json:"timeout_ms"`
	Any       []string `json:"any"`
	Stop      []string `json:"stop"`
}

func (s *Server) wait(ctx context.Context, req *mcp.CallToolRequest, in waitArgs) (string, error) {
	tokens, err := textBudget(req, in.MaxTokens, in.Image)
	if err != nil {
		return "", err
	}
	until, err := text.Until(in.For, in.Value)
	if err != nil {
		return "", err
	}
	ask := &protocol.Wait{Until: until, TimeoutMs: millis(in.TimeoutMs, defaultTimeoutMs)}
	if ask.Any, err = text.Patterns("any", in.Any); err != nil {
		return "", err
	}
	if ask.Stop, err = text.Patterns("stop", in.Stop); err != nil {
		return "", err
	}
	info, err := s.find(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	if ask.SessionID = info.SessionID; len(in.Any)+len(in.Stop) > 0 {
		ask.SinceSeq = s.seen(ctx, info.SessionID) // what flashed by since then counts
	}
	if in.SinceRev != nil {
		ask.SinceSeq, ask.Scrollback = *in.SinceRev, protocol.MaxHistory
	}
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
	said := s.matched(got, until)
	if len(got.Notes) > 0 {
		said = text.Join(text.Messages(got.Notes), said)
	}
	if got.ExitCode != nil {
		since := s.seen(ctx, info.SessionID)
		if in.SinceRev != nil {
			since = *in.SinceRev
		}
		ended(&info, got)
		limit := in.MaxTokens
		if in.SinceRev != nil { // it asked for all that is new
			limit = &tokens
		}
		return s.showEnd(ctx, info, frame, since, limit, tokens, said), nil
	}
	if in.SinceRev != nil {
		news := got.Read()
		news.Frame = frame
		return s.show(ctx, info, frame, dialect.Changes(news, *in.SinceRev), tokens, said, unseen(news)), nil
	}
	return s.show(ctx, info, frame, dialect.Whole(frame, 0), tokens, said, ""), nil
}

// await waits for a fact while it tells the client that it still does, and always has a frame at the end.
func (s *Server) await(ctx context.Context, req *mcp.CallToolRequest, ask *protocol.Wait, what string) (*protocol.WaitResult, *protocol.Frame, error) {
	defer s.progress(ctx, req, "waiting for "+what, time.Duration(ask.TimeoutMs)*time.Millisecond)()
	got, err := s.cfg.Terminals.Wait(ctx, ask)
	if err != nil {
		return nil, nil, err
	}
	changes := ask.Scrollback > 0
	if got.Frame != nil && (got.Frame.Screen.Lines != nil || changes && got.Frame.Since != 0) {
		return got, got.Frame, nil
	}
	read, err := s.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: ask.SessionID})
	if err != nil {
		return nil, nil, err
	}
	return got, read.Frame, nil
}

// ended notes that a program has ended, with the status that a wait's answer brought.
func ended(info *protocol.SessionInfo, got *protocol.WaitResult) {
	if got.ExitCode != nil && info.State == protocol.StateRunning {
		info.State, info.ExitCode, info.Signal = protocol.StateExited, *got.ExitCode, got.Signal
	}
}

// matched is the first line of a wait's answer. What matched is on the screen below it: a line of ours does not repeat
// words of a program.
func (s *Server) matched(got *protocol.WaitResult, until protocol.Until) string {
	switch {
	case got.Stopped:
		return "stop: " + text.Came(got)
	case got.Ended != "":
		return "no match: " + text.Ended(got.Ended) + "; " + lookFirst
	case !got.Met && got.ExitCode != nil:
		return "no match: the program ended first"
	case !got.Met:
		return "no match: timeout"
	case got.Came != nil && !got.Came.Exit && *got.Came != until:
		return "matched: " + text.Came(got)
	case until.Exit && got.ExitCode != nil:
		return "" // the header has the status
	case until.Control && got.Matched != "":
		if got.Matched == "granted" && got.Frame != nil {
			s.learn(got.Frame.Keyboard.AgentID)
		}
		return "matched: " + text.Name(got.Matched)
	case until.Waiting:
		if how := text.FormatMatch(got); how != "" {
			return "matched: " + how
		}
	}
	return "matched"
}

// progress sends notes to a client that asked for them, until the function that it returns is called.
func (s *Server) progress(ctx context.Context, req *mcp.CallToolRequest, message string, total time.Duration) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	began := time.Now()
	return repeat(ctx, s.cfg.ProgressEvery, func(ctx context.Context) { // no note follows the answer: stop waits for it
		note := &mcp.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: time.Since(began).Seconds(), Total: total.Seconds()}
		if err := req.Session.NotifyProgress(ctx, note); err != nil {
			s.cfg.Log.Debug("progress note not sent", "error", err)
		}
	})
}

// millis is a time limit as given, or its default.
func millis(given *int64, otherwise int64) int64 {
	if given == nil {
		return otherwise
	}
	return max(1, *given) // 0 would be no limit on the wire
}
