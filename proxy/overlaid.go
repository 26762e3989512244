package proxy

import (
	"os"
	"strings"
	"time"

	"terminalproxy/proxy/host"
	"terminalproxy/proxy/observer"
	"terminalproxy/proxy/overlay"
)

// wireOverlay plugs what the proxy itself shows between control, the observer and the copier.
func (s *session) wireOverlay(agent *AgentConfig) {
	conf := overlay.Config{
		Name: agent.Name, Line: !agent.NoNotice, Title: takesTitle(os.Getenv("TERM")), Key: overlay.KeyLabel(agent.Key.String()),
		Repaint: func() { s.copier.Repaint() }, OneProgram: agent.OneProgram, Present: s.term.HasScreen,
		Colors: overlay.ColorsOf(os.Getenv("TERM"), os.Getenv("NO_COLOR") != ""),
	}
	draw := overlay.PainterConfig{Loop: modelOwner{s.observer, s.conf.headless}, Shown: s.questionShown}
	if s.conf.headless != nil { // whoever looks keeps the title of their own window
		conf.Title, conf.Leave, draw.Untitled, conf.Colors = true, " · d leaves", true, overlay.ManyColors
	}
	if s.term.HasKeyboard() {
		draw.Ask = func(take func(row int)) {
			s.pump.Post(func(time.Time) { s.detector.expect(take) })
		}
	}
	s.status = overlay.New(conf)
	draw.Status = s.status
	s.painter = overlay.NewPainter(draw)
}

// takesTitle reports whether a terminal of this type takes a window title; others would print it.
func takesTitle(term string) bool {
	return term != "" && term != "dumb" && term != "linux" && !strings.HasPrefix(term, "vt")
}

// questionShown tells control that a question stands on the user's screen since now.
func (s *session) questionShown(question uint64) {
	now := time.Now()
	s.pump.Post(func(time.Time) {
		if s.authority.Question() == question {
			s.authority.Shown(now)
		}
	})
}

// modelOwner is the observer as package overlay sees it.
type modelOwner struct {
	*observer.Observer
	headless *host.Session
}

// Feed implements [overlay.Loop]: on the observer's goroutine, and at once.
func (o modelOwner) Feed(chunk []byte) { o.headless.Touch(); o.Digest(chunk) }
