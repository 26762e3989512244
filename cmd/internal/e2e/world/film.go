package world

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
)

// film records what a window has shown. On a busy machine a poll of the window can come late and
// miss what stands for a second or two; the film keeps it.
type film struct {
	path   string // tmux pipe-pane appends to it
	read   int64
	screen *screen.Screen
	// unseen holds the bytes read but not yet drawn: the frames after the last match.
	unseen []byte
}

func newFilm(path string, cols, rows int) *film {
	return &film{path: path, screen: screen.New(screen.Config{Cols: cols, Rows: rows})}
}

// Load reads what the window has received since the last call.
func (f *film) Load() error {
	file, err := os.Open(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the window has received nothing
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(f.read, io.SeekStart); err != nil {
		return err
	}
	more, err := io.ReadAll(file)
	f.read += int64(len(more))
	f.unseen = append(f.unseen, more...)
	return err
}

// Find draws frame after frame until one is as wanted. A frame is a few bytes: far fewer than it
// takes to draw a notice and erase it.
func (f *film) Find(wanted func(screen string) bool) bool {
	const frame = 16
	for {
		var rows strings.Builder
		_, height := f.screen.Size()
		for row := range height {
			rows.WriteString(f.screen.RowText(row) + "\n")
		}
		if wanted(rows.String()) {
			return true
		}
		if len(f.unseen) == 0 {
			return false
		}
		n := min(frame, len(f.unseen))
		f.screen.Feed(f.unseen[:n])
		f.unseen = f.unseen[n:]
	}
}

// skip draws everything received, without checking it.
func (f *film) skip() error {
	err := f.Load()
	f.screen.Feed(f.unseen)
	f.unseen = nil
	return err
}

// Recording returns the file of every byte that the window has received, by its name in the world
// ([World.Content]).
func (s *Terminal) Recording() string {
	name, err := filepath.Rel(s.W.Dir, s.Film.path)
	require.NoError(s.W.T, err)
	return name
}

// skipFilm makes SeeShown check only what arrives from now on.
func (s *Terminal) skipFilm() {
	s.W.T.Helper()
	require.NoError(s.W.T, s.Film.skip())
}

// SeeShown waits until the screen is as wanted, or was so for a moment since the user's last key or
// since the previous call succeeded. So a sequence of calls sees the screens in their order.
func (s *Terminal) SeeShown(what string, wanted func(screen string) bool) {
	s.W.T.Helper()
	s.W.Until(func() bool {
		require.NoError(s.W.T, s.Film.Load())
		return s.Film.Find(wanted)
	}, func() string {
		return what + " was not shown; now:\n" + s.Screen()
	})
}

// WaitShown waits until text stands on the screen, or has stood there: see [Terminal.SeeShown].
func (s *Terminal) WaitShown(text string) {
	s.W.T.Helper()
	s.SeeShown(text, func(screen string) bool { return strings.Contains(screen, text) })
}
