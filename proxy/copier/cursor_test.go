package copier_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/copier"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/tty"
)

// shell is a user's terminal before the session: what is typed there comes in pieces, one every 10 ms.
type shell struct {
	typed   []string
	closed  bool // nothing follows
	refuses error
	wrote   string
}

func (s *shell) WriteAll(p []byte, _ time.Duration) error {
	s.wrote += string(p)
	return s.refuses
}

func (s *shell) Read(p []byte) (int, error) {
	if len(s.typed) == 0 {
		if s.closed {
			return 0, nil
		}
		return 0, tty.ErrAgain
	}
	n := copy(p, s.typed[0])
	s.typed = s.typed[1:]
	return n, nil
}

func (s *shell) Wait(_ tty.Events, timeout time.Duration) (tty.Events, error) {
	if len(s.typed) > 0 || s.closed {
		time.Sleep(min(timeout, 10*time.Millisecond))
		return tty.Readable, nil
	}
	time.Sleep(timeout)
	return 0, nil
}

func (s *shell) Wake() {}

func TestFindCursor(t *testing.T) {
	for _, c := range []struct {
		name string
		in   shell
		want copier.Cursor
		took time.Duration
	}{
		{"an answer", shell{typed: []string{"\x1b[7;1R"}}, copier.Cursor{Row: 6}, 10 * time.Millisecond},
		{"clusters", shell{typed: []string{"\x1b[?2027;3$y\x1b[7;1R"}}, copier.Cursor{Row: 6, Clusters: screen.ClustersAlways}, 10 * time.Millisecond},
		{"no clusters", shell{typed: []string{"\x1b[?20", "27;0$ya\x1b[7;1R"}}, copier.Cursor{Row: 6, Typed: []byte("a"), Clusters: screen.ClustersNever}, 20 * time.Millisecond},
		{"only clusters", shell{typed: []string{"\x1b[?2027;1$y"}}, copier.Cursor{Late: true, Clusters: screen.ClustersOn}, copier.AnswerPatience},
		{"another mode", shell{typed: []string{"\x1b[?2026;1$y\x1b[7;1R"}}, copier.Cursor{Row: 6, Typed: []byte("\x1b[?2026;1$y")}, 10 * time.Millisecond},
		{"in pieces", shell{typed: []string{"\x1b[", "7;", "1R"}}, copier.Cursor{Row: 6}, 30 * time.Millisecond},
		{"among what is typed", shell{typed: []string{"ls\x1b[7;1R\r"}}, copier.Cursor{Row: 6, Typed: []byte("ls\r")}, 10 * time.Millisecond},
		{"below the screen", shell{typed: []string{"\x1b[99;1R"}}, copier.Cursor{Row: 23}, 10 * time.Millisecond},
		{"the first one counts", shell{typed: []string{"\x1b[7;1R\x1b[8;1R"}}, copier.Cursor{Row: 6, Typed: []byte("\x1b[8;1R")}, 10 * time.Millisecond},
		{"none", shell{typed: []string{"ls"}}, copier.Cursor{Typed: []byte("ls"), Late: true}, copier.AnswerPatience},
		{"half of one", shell{typed: []string{"\x1b[7;"}}, copier.Cursor{Typed: []byte("\x1b[7;"), Late: true}, copier.AnswerPatience},
		{"the keyboard's end", shell{typed: []string{"x"}, closed: true}, copier.Cursor{Typed: []byte("x"), Late: true}, 20 * time.Millisecond},
		{"no screen", shell{refuses: errors.New("closed")}, copier.Cursor{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				require.Equal(t, c.want, copier.FindCursor(&c.in, &c.in, 24))
				require.Equal(t, c.took, time.Since(began))
				require.Equal(t, "\x1b[2l\x1b7\x1b[?2027$p\x1b8\x1b[J\x1b[6n", c.in.wrote)
			})
		})
	}
}
