package proxy

import (
	"path/filepath"

	"terminalproxy/proxy/overlay"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/recording"
)

// wireRecording begins to record.
func (s *session) wireRecording(cols, rows int, kbd *keyboard) {
	if s.recording == nil {
		return
	}
	c := recording.Config{
		Session: record.Session{ID: s.id, Command: s.conf.Command, Args: s.conf.Args, Cwd: s.dir(), Cols: cols, Rows: rows},
		Title:   filepath.Base(s.conf.Command), ReclaimKey: s.reclaimKey, Observer: s.observer, Program: s.child, Log: s.log,
		Interrupted: func(string) {},
	}
	if s.conf.Agent != nil {
		c.Title, c.Control = s.conf.Agent.Name, s.authority
		c.Interrupted = func(say string) { s.status.Say(say, overlay.TroubleFor) }
	} else { // with agents, the detector has told the user's keys from what the terminal says
		kbd.heard = s.recording.Listener()
	}
	s.recording.Begin(c)
}
