package open

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/record/replay"
	"terminalproxy/proxy/view/redact"
)

// mostRecords bounds the list of recordings for a page.
const mostRecords = 100

// library answers one page's requests about this user's recordings. A recording is named only by
// its id; no text from a page becomes part of a path.
type library struct {
	dir     string
	own     *redact.Own // the user's rules for redaction
	session string      // the session that pages are limited to, or ""
	// sessions lists the gateway's sessions: which run, and which are hidden.
	sessions func(context.Context) ([]protocol.SessionInfo, error)
	leave    func()
	id       string // of the recording being played
	file     *os.File
	player   *replay.Player
}

// recordsMaker returns a function that makes libraries for pages, nil for pages that may not ask.
func (o *opening) recordsMaker(way client.Config) func() page.Records {
	dir, err := userdirs.RecordsPath()
	if err != nil {
		return nil
	}
	return func() page.Records {
		c := client.New(way)
		return &library{
			dir:      dir,
			own:      o.env.Taste.Redact,
			session:  o.session,
			sessions: c.Sessions,
			leave:    func() { _ = c.Close() },
		}
	}
}

// Close implements page.Records.
func (l *library) Close() {
	l.stop()
	l.leave()
}

// stop ends the recording being played.
func (l *library) stop() {
	if l.file != nil {
		_ = l.file.Close() // it was only read
	}
	l.id, l.file, l.player = "", nil, nil
}

// Answer implements page.Records.
func (l *library) Answer(ctx context.Context, m protocol.Message) protocol.Message {
	id := protocol.RequestID(m)
	sessions, err := l.sessions(ctx)
	if err != nil { // assume that it is hidden
		return &protocol.Error{
			RequestID: id,
			Code:      protocol.CodeUnavailable,
			Message: "no gateway answers, and only a gateway knows which sessions are hidden: " +
				"try again",
		}
	}
	switch m := m.(type) {
	case *protocol.RecordsList:
		return &protocol.RecordsListResult{RequestID: id, Records: l.listRecordings(sessions)}
	case *protocol.RecordsRead:
		r := &protocol.RecordsReadResult{RequestID: id, RecordID: m.RecordID}
		if err := l.read(ctx, m, r, sessions); err != nil {
			return refuseRecording(id, err)
		}
		return r
	}
	return refuseRecording(id, record.ErrUnknown)
}

var errHidden = errors.New("the session is hidden")

// refuseRecording converts an error for a page: without file names.
func refuseRecording(id string, err error) *protocol.Error {
	failed := &protocol.Error{
		RequestID: id,
		Code:      protocol.CodeUnavailable,
		Message:   "the recording cannot be read",
	}
	switch {
	case errors.Is(err, errHidden):
		failed.Code, failed.Message = protocol.CodeBlackout, "the session is hidden: its "+
			"recording is shown again when the session is"
	case errors.Is(err, record.ErrUnknown):
		failed.Code, failed.Message, failed.Field = protocol.CodeBadMessage, "no recording has this id, or its file is no longer there", "recordId"
	}
	return failed
}

// listRecordings returns the recordings that still exist and that the page may see.
func (l *library) listRecordings(sessions []protocol.SessionInfo) []protocol.RecordInfo {
	all := []protocol.RecordInfo{}
	for _, k := range record.Recordings(l.dir) {
		if len(all) == mostRecords || !l.isVisible(&k) {
			continue
		}
		file, err := k.Open()
		if err != nil {
			continue
		}
		info, err := file.Stat()
		_ = file.Close() // it was only read
		if err != nil {
			continue
		}
		s := k.Session
		all = append(all, protocol.RecordInfo{
			RecordID:  k.ID,
			SessionID: s.ID,
			Command:   l.redactText(s.Command),
			Args:      l.argumentLine(s.Args),
			Cwd:       l.redactText(s.Cwd),
			StartedAt: k.Begin.UnixMilli(),
			WrittenAt: info.ModTime().UnixMilli(),
			Bytes:     info.Size(),
			Running:   findRunning(sessions, s.ID) != nil,
		})
	}
	return all
}

// isVisible reports whether the page may see a recording.
func (l *library) isVisible(k *record.Known) bool {
	return l.session == "" || k.Session.ID == l.session
}

// findRunning returns the session if it is still recorded, nil after its end.
func findRunning(sessions []protocol.SessionInfo, id string) *protocol.SessionInfo {
	at := slices.IndexFunc(sessions, func(s protocol.SessionInfo) bool {
		return s.SessionID == id && s.State != protocol.StateExited
	})
	if id == "" || at < 0 {
		return nil
	}
	return &sessions[at]
}

// isHidden reports whether the user hides a session, which may have ended.
func isHidden(sessions []protocol.SessionInfo, id string) bool {
	return id != "" &&
		slices.ContainsFunc(sessions, func(s protocol.SessionInfo) bool {
			return s.SessionID == id && s.Blackout.ByUser()
		})
}

// redactText redacts a text as for agents.
func (l *library) redactText(text string) string {
	text, _ = l.own.Text(protocol.Visible(text), -1)
	return text
}

// argumentLine joins arguments before redacting them, because an option describes the argument
// after it.
func (l *library) argumentLine(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	return []string{l.redactText(strings.Join(args, " "))}
}

// read answers a page that plays a recording.
func (l *library) read(
	ctx context.Context, m *protocol.RecordsRead, r *protocol.RecordsReadResult,
	sessions []protocol.SessionInfo,
) error {
	if l.id != m.RecordID {
		l.stop()
	}
	k, err := record.Recording(l.dir, m.RecordID)
	switch {
	case err != nil:
		return err
	case !l.isVisible(&k):
		return record.ErrUnknown
	case isHidden(sessions, k.Session.ID):
		return errHidden
	}
	if l.file == nil {
		if l.file, err = k.Open(); err != nil {
			return err
		}
		l.id, l.player = k.ID, replay.New(l.file, l.own)
	}
	if m.Marks {
		return replay.ReadMarks(ctx, l.file, l.own, r)
	}
	return l.player.Read(ctx, m, r)
}
