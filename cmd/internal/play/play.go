// Package play plays a recording in a person's terminal: it draws the rows that a page shows, with a line below them that says who
// typed and which keys there are. It must not know sessions nor gateways, and writes to nothing but the terminal.
package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"terminalproxy/protocol"
	"terminalproxy/proxy/redact"
	"terminalproxy/proxy/replay"
	"terminalproxy/proxy/screen"
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

// Config says what is played, and where.
type Config struct {
	File  io.ReaderAt
	Own   *redact.Own   // the user's rules about what is covered, nil for none
	From  time.Duration // where it begins
	Speed float64       // 1 for that of the recording
	Idle  time.Duration // to which pauses are shortened, 0 for as they are
	// In and Out are the terminal.
	In, Out *os.File
}

// Run plays until the person leaves, or ctx ends, and leaves the terminal as it was. The error says why the recording cannot be played.
func Run(ctx context.Context, c Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m, err := newModel(ctx, c)
	if err != nil {
		return err
	}
	defer m.seeks.Wait()
	defer stop()
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler()).Run()
	switch {
	case m.failed != nil:
		return m.failed
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("a fault in the player: %w", err)
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("the terminal: %w", err)
	}
	return nil
}

// model is the player. It belongs to the goroutine of the program, except for player, which belongs to a seek that runs.
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
	due   time.Duration // when more comes, nowhere while it goes where a key has sent it
	more  bool

	playing bool
	speed   float64
	idle    time.Duration
	seeking bool
	want    time.Duration // where to seek next, negative for nowhere
	turn    int           // of the ticks: those of an earlier one mean nothing any more
}

const nowhere = -1

func newModel(ctx context.Context, c Config) (*model, error) {
	r := &protocol.RecordsReadResult{}
	if err := replay.Marks(ctx, c.File, c.Own, r); err != nil {
		return nil, err
	}
	return &model{
		ctx: ctx, player: replay.New(c.File, c.Own), marks: r.Marks, length: time.Duration(r.LengthMs) * time.Millisecond,
		playing: true, speed: c.Speed, idle: c.Idle, want: nowhere, now: c.From,
	}, nil
}

// sought is the end of a seek.
type sought struct {
	screen   *screen.Screen
	now, due time.Duration
	more     bool
	err      error
}

// tick says that it is time to go on.
type tick int

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.seek(m.now) }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.cols, m.rows = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	case sought:
		return m, m.arrive(msg)
	case tick:
		if int(msg) == m.turn && m.playing {
			return m, m.seek(m.ahead())
		}
	}
	return m, nil
}

// seek goes to a time. One seek runs at a time, beside the keys.
func (m *model) seek(to time.Duration) tea.Cmd {
	to = max(to, 0)
	if m.seeking {
		m.want = to
		return nil
	}
	m.seeking = true
	m.turn++
	m.seeks.Add(1) // Done in the command, which the program always runs
	return func() tea.Msg {
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

// arrive shows where a seek has ended, and goes on.
func (m *model) arrive(s sought) tea.Cmd {
	m.seeking = false
	if s.err != nil {
		m.failed = s.err
		return tea.Quit
	}
	if s.due != m.due {
		m.rest = s.now
	}
	m.shown, m.now, m.due, m.more = s.screen, s.now, s.due, s.more
	if to := m.want; to != nowhere {
		m.want = nowhere
		return m.seek(to)
	}
	return m.next()
}

// next waits for what comes next, while it plays.
func (m *model) next() tea.Cmd {
	m.turn++
	if m.playing = m.playing && m.more; !m.playing {
		return nil
	}
	turn := m.turn
	return tea.Tick(m.step(), func(time.Time) tea.Msg { return tick(turn) })
}

// step is how long it waits before it goes on.
func (m *model) step() time.Duration {
	return min(max(time.Duration(float64(m.due-m.now)/m.speed), frame), clock)
}

// ahead is where it goes on: behind a pause that has been long enough.
func (m *model) ahead() time.Duration {
	to := m.now + time.Duration(float64(m.step())*m.speed)
	if m.idle > 0 && to-m.rest > m.idle {
		return max(to, m.due)
	}
	return to
}
