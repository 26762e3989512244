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

// howToStart explains how to get a first terminal.
func howToStart(programs Programs) string {
	const user = "the user starts one in their own terminal with: proxy --agent PROGRAM"
	if programs == nil {
		return user
	}
	return "start one of your own with terminal_run; " + user
}

type listArgs struct{}

func (s *toolset) listTerminals(
	ctx context.Context, _ *mcp.CallToolRequest, _ listArgs,
) (string, error) {
	list, err := s.cfg.Terminals.SessionList(ctx)
	if err != nil {
		return "", err
	}
	incomplete := incompleteNote(list, s.cfg.Now())
	if len(list.Sessions) == 0 {
		return text.Join("there are no terminals: "+howToStart(s.cfg.Programs), incomplete), nil
	}
	shown, ended := text.SelectListed(list.Sessions)
	titles := text.Fence(s.cfg.Mark(), "titles", text.Titles(shown))
	return text.Join(text.Join(s.formatList(shown, ended), incomplete), titles), nil
}

// incompleteNote returns the note that a list misses terminals, or "".
func incompleteNote(list *protocol.SessionsListResult, now time.Time) string {
	if list.Incomplete == nil {
		return ""
	}
	return "the list of terminals is incomplete: " + text.Incomplete(list.Incomplete, now)
}

// formatList describes sessions, one per line; ended is the number of ended ones that are left out.
func (s *toolset) formatList(sessions []protocol.SessionInfo, ended int) string {
	lines := make([]string, len(sessions))
	for i, info := range sessions {
		lines[i] = text.Line(info, s.self.ownID(), s.cfg.Now())
	}
	out, left := text.CutToBudget(strings.Join(lines, "\n"))
	if left > 0 {
		out += fmt.Sprintf("\n%d more are left out", left)
	}
	if ended > 0 {
		out += "\n" + text.MoreEnded(ended)
	}
	return out
}

// findTerminal returns the terminal that a call means: the one with that id or name, or the only
// one whose id or name begins with it; without id, the only running one. An id that matches no
// terminal, or several, is an error and never selects another terminal.
func (s *toolset) findTerminal(ctx context.Context, id string) (protocol.SessionInfo, error) {
	var none protocol.SessionInfo
	list, err := s.cfg.Terminals.SessionList(ctx)
	if err != nil {
		return none, err
	}
	sessions := list.Sessions
	matches := text.Find(sessions, id)
	if len(matches) == 1 {
		return matches[0], nil
	}
	incomplete := incompleteNote(list, s.cfg.Now())
	known := text.Join(s.formatList(text.SelectCandidates(sessions)), incomplete)
	switch {
	case len(sessions) == 0:
		return none, errors.New(
			text.Join("there are no terminals: "+howToStart(s.cfg.Programs), incomplete))
	case id != "" && len(matches) > 1:
		return none, fmt.Errorf("several terminals are called %q; pass one of "+
			"these ids as terminal:\n%s", text.Name(id), s.formatList(matches, 0))
	case id != "":
		return none, fmt.Errorf("unknown terminal %q; pass one of these ids as "+
			"terminal:\n%s", text.Name(id), known)
	case len(matches) == 0:
		return none, fmt.Errorf("no terminal is running; pass one of these "+
			"ids to read what an ended one left, or: %s\n"+
			"%s", howToStart(s.cfg.Programs), known)
	}
	last := ""
	if shown, _ := text.SelectCandidates(sessions); shown[0].UsedAt > 0 {
		last = " (the user used the first one last)"
	}
	return none, fmt.Errorf("there are several terminals; pass one of these "+
		"ids as terminal%s:\n%s", last, known)
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
	Image     bool    `json:"image"` // see addPicture
}

// commandViews are the views of a shell's commands: the last one, and the one before it.
var commandViews = []string{"command", "command-before"}

// commandNumber returns the number of the command, counted from the last one, 0 for other views.
func (in readArgs) commandNumber() int { return 1 + slices.Index(commandViews, in.View) }

// checkCombination rejects parameters that do not belong together.
func (in readArgs) checkCombination() error {
	switch {
	case in.View == chatView && (in.SinceRev != nil || in.Lines > 0 || in.Start != nil || in.Match != "" || in.Image):
		return errors.New("view chat takes no parameter but max_tokens")
	case in.View != "" && in.View != "changes" && in.SinceRev != nil:
		return errors.New("since_rev needs view changes")
	case in.View == "changes" && in.Lines > 0:
		return errors.New("lines needs view screen or history")
	case in.View != "history" && in.commandNumber() == 0 && in.Match != "":
		return errors.New("match needs view history or command")
	case in.Context > 0 && in.Match == "":
		return errors.New("context needs match: the regex to look for")
	case in.View != "history" && in.commandNumber() == 0 && in.Start != nil:
		return errors.New("start needs view history or command")
	case (in.View == "history" || in.commandNumber() > 0) && in.Image:
		return fmt.Errorf("an image shows the screen only, not %s: leave view or image out",
			in.View)
	}
	if in.Match != "" {
		if err := text.CheckPattern(in.Match); err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	return nil
}

func (in readArgs) readRequest() *protocol.Read {
	ask := &protocol.Read{SessionID: in.Terminal, Notes: true}
	switch in.View {
	case "history":
		ask.FromLine, ask.Match, ask.Context = in.Start, in.Match, in.Context
		if ask.Scrollback = in.Lines; in.Lines == 0 {
			ask.Scrollback = defaultHistory
		}
	case commandViews[0], commandViews[1]:
		ask.Command, ask.FromLine, ask.Match, ask.Context = in.commandNumber(), in.Start, in.Match, in.Context
		ask.Scrollback = cmp.Or(in.Lines, protocol.MaxHistory)
	}
	return ask
}

func (s *toolset) readView(
	ctx context.Context, req *mcp.CallToolRequest, in readArgs,
) (string, error) {
	tokens, err := textBudget(req, in.MaxTokens, in.Image)
	if err == nil {
		err = in.checkCombination()
	}
	if err != nil {
		return "", err
	}
	if in.View == chatView {
		return s.readChat(ctx, in.Terminal, tokens)
	}
	info, ask, got, err := s.readFor(ctx, in)
	if err != nil {
		return "", err
	}
	if w := got.Frame.Blackout; w.ByUser() {
		return "", &protocol.Error{Code: protocol.CodeBlackout, Message: text.Hidden(w)}
	}
	preamble := text.Messages(got.Notes)
	switch {
	case ask.Command > 0:
		return s.answers.formatCommand(ctx, info, got,
			dialect.Command(got, ask.Command, in.Start != nil, s.cfg.Now()), tokens), nil
	case in.Match != "":
		return s.answers.formatAnswer(ctx, info, got.Frame, dialect.Found(got), tokens, preamble,
			text.ConcealedWarning(got.Found)), nil
	}
	if !ask.Follow || in.SinceRev != nil {
		s.answers.forgetFacts(ctx, info.SessionID) // a reader who asks for rows needs all facts
	}
	page, warning := in.choosePage(ask, got)
	return s.answers.formatAnswer(ctx, info, got.Frame, page, tokens, preamble, warning), nil
}

// choosePage returns the page of the view, and the warning about text in it that the user cannot
// see.
func (in readArgs) choosePage(
	ask *protocol.Read, got *protocol.ReadResult,
) (page text.Page, warning string) {
	switch {
	case ask.Follow && in.SinceRev == nil:
		return dialect.Since(got, ask.SinceSeq), hiddenTextWarning(got)
	case ask.Follow:
		return dialect.Changes(got, ask.SinceSeq), hiddenTextWarning(got)
	case in.View == "history":
		return dialect.History(got, in.Start != nil), hiddenTextWarning(got)
	}
	return dialect.Whole(got.Frame, in.Lines), ""
}

// textBudget returns how many tokens an answer may take besides the line about a picture. The
// picture itself does not count: its cost depends on the model.
func textBudget(req *mcp.CallToolRequest, given *int, image bool) (int, error) {
	const line = 100
	tokens, err := callerOf(req).tokenLimit(given)
	switch {
	case err != nil || !image:
		return tokens, err
	case tokens < text.MinTokens+line:
		return 0, fmt.Errorf("%s is %d, and with an image it takes %d or more",
			dialect.Limit, tokens, text.MinTokens+line)
	}
	return tokens - line, nil
}

// hiddenTextWarning warns of rows of history with text that the user cannot see.
func hiddenTextWarning(got *protocol.ReadResult) string {
	return text.UnseenWarning("row of history", got.HiddenText)
}

// dialect holds the phrases that tell an agent how to ask for more.
var dialect = text.Dialect{
	Limit: "max_tokens",
	Lines: func(first uint64, n int) string {
		return fmt.Sprintf("view history with start %d and lines %d", first, n)
	},
	Output: func(nth int, first uint64, n int) string {
		return fmt.Sprintf("view %s with start %d and lines %d", commandViews[nth-1], first, n)
	},
	Older: "view history with more lines, or with start",

	Screen: "view screen shows all",
}

type waitArgs struct {
	Terminal  string   `json:"terminal"`
	For       string   `json:"for"`
	Value     string   `json:"value"`
	SinceRev  *uint64  `json:"since_rev"`
	MaxTokens *int     `json:"max_tokens"`
	Image     bool     `json:"image"` // see addPicture
	TimeoutMs *int64   `json:"timeout_ms"`
	Any       []string `json:"any"`
	Stop      []string `json:"stop"`
}

func (in waitArgs) waitRequest(limit int64) (*protocol.Wait, error) {
	until, err := text.Until(in.For, in.Value)
	if err != nil {
		return nil, err
	}
	ask := &protocol.Wait{Until: until, TimeoutMs: limit}
	if ask.Any, err = text.Patterns("any", in.Any); err != nil {
		return nil, err
	}
	if ask.Stop, err = text.Patterns("stop", in.Stop); err != nil {
		return nil, err
	}
	return ask, nil
}

func (s *toolset) waitForFact(
	ctx context.Context, req *mcp.CallToolRequest, in waitArgs,
) (string, error) {
	tokens, err := textBudget(req, in.MaxTokens, in.Image)
	if err != nil {
		return "", err
	}
	ask, err := in.waitRequest(timeLimit(ctx, req, in.TimeoutMs, defaultTimeoutMs))
	if err != nil {
		return "", err
	}
	info, err := s.findTerminal(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	// Only output since then counts and is shown.
	since, err := s.completeWait(ctx, info, in, ask)
	if err != nil {
		return "", err
	}
	got, frame, err := s.awaitFact(ctx, req, ask, in.For)
	if err != nil {
		return "", err
	}
	preamble := s.describeWait(ctx, req, in, ask, got)
	if got.ExitCode != nil {
		recordEnd(&info, got)
		limit := in.MaxTokens
		if in.SinceRev != nil { // the agent asked for all news
			limit = &tokens
		}
		return s.showEnd(ctx, info, nil, frame, since, limit, tokens, preamble), nil
	}
	if ask.Scrollback > 0 {
		news := got.Read()
		news.Frame = frame
		return s.answers.formatAnswer(ctx, info, frame, dialect.News(news, since), tokens, preamble,
			hiddenTextWarning(news)), nil
	}
	return s.answers.formatAnswer(ctx, info, frame, dialect.Whole(frame, 0), tokens, preamble, ""), nil
}

// completeWait fills in the terminal, the revisions and the grant of a wait. since is the revision
// after which the answer shows news.
func (s *toolset) completeWait(
	ctx context.Context, info protocol.SessionInfo, in waitArgs, ask *protocol.Wait,
) (since uint64, err error) {
	since = s.answers.seenRevision(ctx, info.SessionID)
	ask.SessionID, ask.SinceSeq = info.SessionID, since
	switch {
	case in.SinceRev != nil:
		since = *in.SinceRev
		ask.SinceSeq, ask.Scrollback = since, protocol.MaxHistory
	case since > protocol.FirstSeq:
		ask.Scrollback = 1 // the rest is only counted
	}
	if ask.Until.Changed {
		// Changed counts from now on: view changes shows what changed before.
		now, err := s.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: info.SessionID})
		if err != nil {
			return 0, err
		}
		ask.AfterSeq = now.Frame.Seq
	}
	if !ask.Until.Control {
		ask.Epoch = ownEpoch(ctx, info, s.self.ownID())
	}
	return since, nil
}

// describeWait describes how a wait ended, after the user's messages.
func (s *toolset) describeWait(
	ctx context.Context, req *mcp.CallToolRequest, in waitArgs,
	ask *protocol.Wait, got *protocol.WaitResult,
) string {
	outcome := matchedLine(got, ask.Until)
	switch {
	case outcome != timedOut:
	case taskOf(ctx) != nil && len(got.Notes) > 0:
		outcome = "no match so far: the user wrote to you"
	default:
		outcome += shortenedNote(ctx, req, in.TimeoutMs)
	}
	return text.Join(text.Messages(got.Notes), outcome)
}

// awaitFact waits for a fact while it sends progress notes to the client, and returns a frame in
// any case.
func (s *toolset) awaitFact(
	ctx context.Context, req *mcp.CallToolRequest, ask *protocol.Wait, fact string,
) (*protocol.WaitResult, *protocol.Frame, error) {
	defer s.startProgress(ctx, req, "waiting for "+fact,
		time.Duration(ask.TimeoutMs)*time.Millisecond)()
	got, err := waitInTurns(ctx, s.cfg.Terminals, ask)
	if err != nil {
		return nil, nil, err
	}
	s.self.learnID(grantedAgent(got, ask.Until))
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

// recordEnd copies the exit status from a wait's answer into info.
func recordEnd(info *protocol.SessionInfo, got *protocol.WaitResult) {
	if got.ExitCode != nil && info.State == protocol.StateRunning {
		info.State, info.ExitCode, info.Signal = protocol.StateExited, *got.ExitCode, got.Signal
	}
}
