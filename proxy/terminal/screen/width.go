package screen

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// runeWidth returns the number of columns of a character standing alone, 0 for one that joins the
// character before it. It agrees with wcwidth(3), because programs that know nothing of clusters
// compute their columns with it.
func runeWidth(r rune) int {
	switch {
	case r < 0x300: // includes U+00AD, which wcwidth gives a column
		return 1
	case r < 0x483 && r >= 0x370, r >= 0x2500 && r < 0x25a0:
		return 1
	case r >= 0x4e00 && r < 0xa000:
		return 2
	case r >= 0x1160 && r < 0x1200:
		// Hangul vowels and trailing consonants join their leading consonant.
		return 0
	case r >= 0x1f1e6 && r < 0x1f200: // regional indicators: a pair makes a flag of two columns
		return 1
	default:
		return displaywidth.Rune(r)
	}
}

// Clusters is what the user's terminal makes of mode 2027, in which grapheme clusters decide on
// columns.
type Clusters uint8

// The zero value is for a terminal that was not asked or has not answered; it counts as
// ClustersOff.
const (
	ClustersUnknown Clusters = iota
	ClustersOn               // on, until a program resets the mode
	ClustersOff              // off, until a program sets it
	ClustersAlways           // on, even if a program resets the mode
	ClustersNever            // off, even if a program sets the mode
)

// ReportedClusters is what a terminal says that answers the question for mode 2027 with this state
// (DECRPM, VT510: 1 set, 2 reset, 3 and 4 the same for ever, 0 not recognized).
func ReportedClusters(state int) Clusters {
	if state < 1 || state > 3 {
		return ClustersNever
	}
	return Clusters(state)
}

// SetClusters follows a terminal that answers late.
func (s *Screen) SetClusters(c Clusters) {
	s.t.tick = s.rev + 1
	s.t.setClusters(c)
	s.commit()
}

func (t *terminal) setClusters(c Clusters) {
	t.clusterMode = c
	t.modes.Graphemes = c == ClustersOn || c == ClustersAlways ||
		c == ClustersUnknown && t.modes.Graphemes
}

// widthTable remembers runeWidth for the characters that were printed, in pages of 256.
type widthTable struct{ pages [maxPage]*[256]uint8 }

// maxPage covers the planes 0 and 1; what lies beyond is rare.
const maxPage = 0x20000 >> 8

func (t *widthTable) of(r rune) int {
	page := uint32(r) >> 8
	if page >= maxPage {
		return runeWidth(r)
	}
	widths := t.pages[page]
	if widths == nil {
		widths = t.fill(page)
	}
	return int(widths[r&0xff])
}

func (t *widthTable) fill(page uint32) *[256]uint8 {
	widths := new([256]uint8)
	for i := range widths {
		widths[i] = uint8(runeWidth(rune(page)<<8 | rune(i)))
	}
	t.pages[page] = widths
	return widths
}

// isSimple names ranges of characters that never join a neighbour of these ranges, so that the
// rules for clusters (Unicode Standard Annex 29) need not be asked.
func isSimple(r rune) bool {
	return r < 0x300 && r != 0xa9 && r != 0xae ||
		r >= 0x370 && r < 0x483 ||
		r >= 0x2500 && r < 0x25a0 || r >= 0x3041 && r < 0x3097 || r >= 0x4e00 && r < 0xa000 ||
		r >= 0xac00 && r < 0xd7a4
}

// isOneCluster says whether text is a single grapheme cluster.
func isOneCluster(text []byte) bool {
	g := graphemes.FromBytes(text)
	return g.Next() && len(g.Value()) == len(text)
}

// The variation selectors that ask for a pictograph as text and as an emoji.
const (
	asText  = 0xfe0e
	asEmoji = 0xfe0f
)

// clusterColumns is how many columns a cluster takes when r, itself of width columns, has joined
// what took columns: a part that has columns of its own makes it wide (a second regional indicator,
// a consonant after a virama, a spacing mark), and a variation selector decides for its pictograph,
// base, the character before it. kitty and Ghostty count like this.
func (t *terminal) clusterColumns(base, r rune, columns, width int) int {
	switch {
	case r == asText && t.isPictograph(base):
		return 1
	case r == asEmoji && (t.isPictograph(base) || isKeycap(base)):
		return 2
	case width == 0 || r >= 0x1f3fb && r <= 0x1f3ff: // skin tones colour the emoji before them
		return columns
	default:
		return 2
	}
}

// isKeycap says whether r can be drawn on a key.
func isKeycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// isPictograph says whether r is what Unicode calls Extended_Pictographic: only that joins another
// one over U+200D. It overwrites t.scratch.
func (t *terminal) isPictograph(r rune) bool {
	return isOneCluster(append(utf8.AppendRune(t.scratch[:0], r), "\u200d\u2764"...))
}
