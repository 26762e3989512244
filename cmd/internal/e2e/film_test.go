package e2e_test

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

// load reads what the window has received since the last call.
func (f *film) load() error {
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

// find draws frame after frame until one is as wanted. A frame is a few bytes: far fewer than it
// takes to draw a notice and erase it.
func (f *film) find(wanted func(screen string) bool) bool {
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
	err := f.load()
	f.screen.Feed(f.unseen)
	f.unseen = nil
	return err
}

// recording returns the file of every byte that the window has received, by its name in the world
// ([world.content]).
func (s *terminal) recording() string {
	name, err := filepath.Rel(s.w.dir, s.film.path)
	require.NoError(s.w.t, err)
	return name
}

// skipFilm makes seeShown check only what arrives from now on.
func (s *terminal) skipFilm() {
	s.w.t.Helper()
	require.NoError(s.w.t, s.film.skip())
}

// seeShown waits until the screen is as wanted, or was so for a moment since the user's last key or
// since the previous seeShown was met. So a sequence of calls is met in its order.
func (s *terminal) seeShown(what string, wanted func(screen string) bool) {
	s.w.t.Helper()
	s.w.until(func() bool {
		require.NoError(s.w.t, s.film.load())
		return s.film.find(wanted)
	}, func() string {
		return what + " was not shown; now:\n" + s.screen()
	})
}

// waitShown waits until text stands on the screen, or has stood there: see [terminal.seeShown].
func (s *terminal) waitShown(text string) {
	s.w.t.Helper()
	s.seeShown(text, func(screen string) bool { return strings.Contains(screen, text) })
}
