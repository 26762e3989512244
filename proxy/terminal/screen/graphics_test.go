package screen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	sixel  = "\x1bP0;1;0q\"1;1;80;96#0;2;0;0;0#0!80~-\x1b\\"
	iterm  = "\x1b]1337;File=name=YQ==;size=4;width=12;height=3;inline=1:QUFBQQ==\a"
	kitten = "\x1b_Ga=T,f=100,i=7,c=10,r=2;QUFBQQ==\x1b\\"
)

// The screen says where pictures stand, until something replaces them.
func TestPicturesStand(t *testing.T) {
	tests := []struct {
		name, in string
		want     []Picture
	}{
		{"none", "text", nil},
		{"sixel", "ab" + sixel, []Picture{{Kind: "sixel", Col: 2}}},
		{"sixel of many bytes", "\x1bPq" + strings.Repeat("#0!80~-", 4000) + "\x1b\\", []Picture{{Kind: "sixel"}}},
		{"iTerm2", "\r\n" + iterm, []Picture{{Kind: "iterm2", Row: 1, Cols: 12, Rows: 3}}},
		{"iTerm2, many bytes", "\x1b]1337;File=inline=1;width=auto;height=50%:" + strings.Repeat("QUFB", 9000) + "\x1b\\", []Picture{{Kind: "iterm2"}}},
		{"iTerm2, in parts", "\x1b]1337;MultipartFile=inline=1;width=4\a\x1b]1337;FilePart=QUFB\a\x1b]1337;FileEnd\a", []Picture{{Kind: "iterm2", Cols: 4}}},
		{"iTerm2, a download", "\x1b]1337;File=name=YQ==:QUFB\a", nil},
		{"kitty", "\x1b[2;3H" + kitten, []Picture{{Kind: "kitty", Row: 1, Col: 2, Cols: 10, Rows: 2}}},
		{"kitty, in pieces", "\x1b_Ga=T,m=1;QUFB\x1b\\\x1b_Gm=0;QUFB\x1b\\", []Picture{{Kind: "kitty"}}},
		{"kitty, sent and not shown", "\x1b_Ga=t,i=7;QUFB\x1b\\\x1b_Ga=q,i=7;QUFB\x1b\\", nil},
		{"kitty, sent and then shown", "\x1b_Gi=7;QUFB\x1b\\\x1b_Ga=p,i=7,c=3\x1b\\", []Picture{{Kind: "kitty", Cols: 3}}},
		{"kitty, deleted", kitten + "\x1b_Ga=d\x1b\\", nil},
		{"kitty, another one deleted", kitten + "\x1b_Ga=d,d=I,i=8\x1b\\", []Picture{{Kind: "kitty", Cols: 10, Rows: 2}}},
		{"kitty, this one deleted", kitten + "\x1b_Ga=d,d=I,i=7\x1b\\", nil},
		{"kitty, those at the cursor deleted", kitten + "\x1b_Ga=d,d=c\x1b\\", nil},
		{"kitty, deletion leaves others", sixel + "\x1b_Ga=d\x1b\\", []Picture{{Kind: "sixel"}}},
		{"another APC", "\x1b_Xa=T\x1b\\\x1b^Ga=T\x1b\\", nil},
		{"never ended", "\x1bPq#0!80~\x18", nil},
		{"cut at the edges", "\x1b[3;15H\x1b_Ga=T,c=99,r=99\x1b\\", []Picture{{Kind: "kitty", Row: 2, Col: 14, Cols: 6, Rows: 2}}},
		{"it scrolls", "\r\n\r\n" + iterm + "\r\n\r\n", []Picture{{Kind: "iterm2", Row: 1, Cols: 12, Rows: 3}}},
		{"it leaves the screen", iterm + "\r\n\r\n\r\n\r\n", nil},
		{"it is written over", sixel + "\rtext", nil},
		{"it is written beside", "ab" + sixel + "\rt\r\ntext", []Picture{{Kind: "sixel", Col: 2}}},
		{"it stands over text", "text\r" + sixel, []Picture{{Kind: "sixel"}}},
		{"it is erased", sixel + "\x1b[2J", nil},
		{"its row is erased", "ab" + sixel + "\r\x1b[K", nil},
		{"the rest of its row is erased", "ab" + sixel + "cd\x1b[K", nil},
		{"what is beside it is erased", "ab" + sixel + "\x1b[5G\x1b[K", []Picture{{Kind: "sixel", Col: 2}}},
		{"another in its place", sixel + kitten, []Picture{{Kind: "kitty", Cols: 10, Rows: 2}}},
		{"the other screen", sixel + "\x1b[?1049h", nil},
		{"and back", sixel + "\x1b[?1049h\x1b[?1049l", []Picture{{Kind: "sixel"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := fed(20, 4, tt.in)
			require.Equal(t, tt.want, s.Pictures())
			require.NoError(t, s.t.verify())
			for i := range len(tt.in) { // cut anywhere
				if i > 200 {
					break
				}
				s := fed(20, 4, tt.in[:i])
				s.Feed([]byte(tt.in[i:]))
				require.Equal(t, tt.want, s.Pictures(), "cut at %d", i)
			}
		})
	}
}

// An observer sees that a picture came and went, and a program cannot pile pictures up.
func TestPicturesAreChanges(t *testing.T) {
	s := fed(20, 4, "text\r\n")
	rev := s.Rev()
	s.Feed([]byte(kitten))
	require.Greater(t, s.Rev(), rev)
	rev = s.Rev()
	s.Feed([]byte("\x1b_Ga=d\x1b\\"))
	require.Greater(t, s.Rev(), rev)
	for range 100 {
		s.Feed([]byte(sixel + "\x1b[C" + sixel))
	}
	require.Len(t, s.Pictures(), maxPictures)
	s.Resize(10, 4)
	for _, p := range s.Pictures() {
		require.Less(t, p.Col, 10)
	}
}
