// Package play plays a recording in a person's terminal. It draws the rows that a page shows, with
// a line below them for the author and the keys. It does not depend on sessions or gateways, and
// writes only to the terminal.
package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"terminalproxy/cmd/internal/tui/fullscreen"

	"terminalproxy/protocol"
	"terminalproxy/proxy/record/replay"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/redact"
)

// The rhythm of drawing.
const (
	framesPerSecond = 30
	frame           = time.Second / framesPerSecond
	// clock is how often the time on the line moves while nothing happens.
	clock = 250 * time.Millisecond
	// slowest and fastest bound the speed.
	slowest, fastest = 1.0 / 16, 64.0
)

// Config says which recording to play, and in which terminal.
type Config struct {
	File  io.ReaderAt
	Own   *redact.Own   // the user's rules about secrets, or nil
	From  time.Duration // start
	Speed float64       // 1 for that of the recording
	Idle  time.Duration // to which pauses are shortened; 0 keeps them
	// In and Out are the terminal.
	In, Out *os.File
}

// Run plays until the person leaves, or ctx ends, and restores the terminal. The error says why the
// recording cannot be played.
func Run(ctx context.Context, c Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m, err := newModel(ctx, c)
	if err != nil {
		return err
	}
	defer m.seeks.Wait()
	defer stop()
	err = fullscreen.New(m, c.In, c.Out, framesPerSecond).Run(ctx)
	switch {
	case m.failed != nil:
		return m.failed
	case errors.Is(err, fullscreen.ErrFault):
		return fmt.Errorf("the player: %w", err)
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("the terminal: %w", err)
	}
	return nil
}

// model is the player. It belongs to the goroutine of the program, except for player, which belongs
// to a seek that runs.
type model struct {
	ctx    context.Context //nolint:containedctx // Update has no parameter for it
	player *replay.Player
	seeks  sync.WaitGroup
	failed error

	cols, rows int // of the terminal
	hide       bool
	marks      []protocol.Mark
	length     time.Duration

	shown *screen.Screen // nil before the first seek has ended
	part  screen.Window
	now   time.Duration
	rest  time.Duration // since when nothing has come
	due   time.Duration // when more comes; nowhere during a key's seek
	more  bool

	playing bool
	speed   float64
	idle    time.Duration
	seeking bool
	want    time.Duration // the next seek, negative without one
	turn    int           // of the ticks: ticks of an earlier turn are void
}

const nowhere = -1

func newModel(ctx context.Context, c Config) (*model, error) {
	r := &protocol.RecordsReadResult{}
	if err := replay.ReadMarks(ctx, c.File, c.Own, r); err != nil {
		return nil, err
	}
	return &model{
		ctx:     ctx,
		player:  replay.New(c.File, c.Own),
		marks:   r.Marks,
		length:  time.Duration(r.LengthMs) * time.Millisecond,
		playing: true,
		speed:   c.Speed,
		idle:    c.Idle,
		want:    nowhere,
		now:     c.From,
	}, nil
}

// sought is the result of a seek.
type sought struct {
	screen   *screen.Screen
	now, due time.Duration
	more     bool
	err      error
}

// tick says that it is time to go on.
type tick int

// Init implements fullscreen.Model.
func (m *model) Init() fullscreen.Cmd { return m.seekTo(m.now) }

// Update implements fullscreen.Model.
func (m *model) Update(msg fullscreen.Msg) fullscreen.Cmd {
	switch msg := msg.(type) {
	case fullscreen.Resize:
		m.cols, m.rows = msg.Cols, msg.Rows
	case fullscreen.Key:
		return m.handleKey(string(msg))
	case sought:
		return m.showSought(msg)
	case tick:
		if int(msg) == m.turn && m.playing {
			return m.seekTo(m.nextTime())
		}
	}
	return nil
}

// seekTo seeks to a time. One seek runs at a time, beside the keys.
func (m *model) seekTo(to time.Duration) fullscreen.Cmd {
	to = max(to, 0)
	if m.seeking {
		m.want = to
		return nil
	}
	m.seeking = true
	m.turn++
	m.seeks.Add(1) // Done in the command, which the program always runs
	return func() fullscreen.Msg {
		defer m.seeks.Done()
		more, err := m.player.Seek(m.ctx, to)
		if err != nil {
			return sought{err: err}
		}
		s := sought{screen: m.player.Screen(), now: m.player.Now(), more: more}
		if more {
			s.due = m.player.Due()
		}
		return s
	}
}

// showSought shows the result of a seek, and goes on.
func (m *model) showSought(s sought) fullscreen.Cmd {
	m.seeking = false
	if s.err != nil {
		m.failed = s.err
		return fullscreen.Leave
	}
	if s.due != m.due {
		m.rest = s.now
	}
	m.shown, m.now, m.due, m.more = s.screen, s.now, s.due, s.more
	if to := m.want; to != nowhere {
		m.want = nowhere
		return m.seekTo(to)
	}
	return m.scheduleNext()
}

// scheduleNext schedules the next seek while the recording plays.
func (m *model) scheduleNext() fullscreen.Cmd {
	m.turn++
	if m.playing = m.playing && m.more; !m.playing {
		return nil
	}
	return fullscreen.After(m.nextDelay(), tick(m.turn))
}

// nextDelay returns the delay until the next seek.
func (m *model) nextDelay() time.Duration {
	return min(max(time.Duration(float64(m.due-m.now)/m.speed), frame), clock)
}

// nextTime returns the time of the next seek: behind a pause that has been long enough.
func (m *model) nextTime() time.Duration {
	to := m.now + time.Duration(float64(m.nextDelay())*m.speed)
	if m.idle > 0 && to-m.rest > m.idle {
		return max(to, m.due)
	}
	return to
}
