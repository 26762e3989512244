package screen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An observer sees that a picture came and went, however long, and a program cannot pile pictures
// up.
func TestPicturesAreChanges(t *testing.T) {
	s := fed(20, 4, "text\r\n")
	rev := s.Rev()
	s.Feed([]byte("\x1bPq" + strings.Repeat("#0!80~-", 4000) + "\x1b\\"))
	require.Len(t, s.Pictures(), 1)
	s.Feed([]byte(expandMacro("kitten")))
	require.Greater(t, s.Rev(), rev)
	rev = s.Rev()
	s.Feed([]byte("\x1b_Ga=d\x1b\\"))
	require.Greater(t, s.Rev(), rev)
	sixel := expandMacro("sixel")
	s.Feed([]byte(strings.Repeat(sixel+"\x1b[C"+sixel, 100)))
	require.Len(t, s.Pictures(), maxPictures)
	s.Resize(10, 4)
	for _, p := range s.Pictures() {
		require.Less(t, p.Col, 10)
	}
}
