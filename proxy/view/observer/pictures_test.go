package observer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Answers say where pictures stand, within an answer's size, and not while the user hides the
// screen.
func TestAnswersTellOfPictures(t *testing.T) {
	s := newStage(t, 20, 10)
	s.print("title\r\n\x1b_Ga=T,c=4,r=2;QUFB\x1b\\", "\x1b[5;3H\x1bPq~~\x1b\\")
	want := []protocol.Picture{{Kind: "kitty", Row: 1, Rows: 2, Cols: 4}, {Kind: "sixel", Row: 4, Col: 2}}
	require.Equal(t, want, s.AnswerFrame(s.now).Pictures)
	s.ControlChanged(s.now, true)
	require.Empty(t, s.AnswerFrame(s.now).Pictures)
	s.ControlChanged(s.now, false)
	s.print("\x1b[H" + strings.Repeat(strings.Repeat("\x1bPq~~\x1b\\\x1b[C", 8)+"\r\n", 6))
	require.Len(t, s.AnswerFrame(s.now).Pictures, protocol.MaxPictures)
}
