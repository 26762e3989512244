package screen

// Color is a colour as the program asked for it: the terminal's default, one of the 256 indexed
// ones, or RGB. The zero value is the default colour. Palette changes (OSC 4) do not alter it.
type Color uint32

const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 2 << 24
	colorKind    Color = 0xff << 24
)

// Indexed returns the colour i of the 256-colour palette.
func Indexed(i uint8) Color { return colorIndexed | Color(i) }

// RGB returns a direct colour.
func RGB(r, g, b uint8) Color { return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b) }

// IsDefault says whether c is the terminal's own foreground or background.
func (c Color) IsDefault() bool { return c == 0 }

// Index returns the palette index, if c is an indexed colour.
func (c Color) Index() (i uint8, ok bool) { return uint8(c), c&colorKind == colorIndexed }

// RGB returns the three components, if c is a direct colour.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&colorKind == colorRGB
}

// Attr is a set of character attributes (SGR, ECMA-48 8.3.117).
type Attr uint16

// The attributes of a cell. Those with SGR codes come first, see attrCodes.
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Blink
	RapidBlink
	Inverse
	Conceal
	Strike
	Overline
	// Protected cells survive DECSED and DECSEL (DECSCA). It is not visible.
	Protected
)

// Underline is the shape of the line under a cell (SGR 4:0 to 4:5 and 21).
type Underline uint8

// The shapes of underlines.
const (
	NoUnderline Underline = iota
	SingleUnderline
	DoubleUnderline
	CurlyUnderline
	DottedUnderline
	DashedUnderline
)

// Style is how a cell looks. The zero value is the terminal's default.
type Style struct {
	Fg, Bg, UnderlineColor Color
	Attrs                  Attr
	Underline              Underline
	Link                   string // target of the hyperlink (OSC 8), "" without one
	// its id parameter: cells with the same id and target belong together
	LinkID string
}

// style is Style with an interned link, so that it is small and comparable.
type style struct {
	fg, bg, ul Color
	attrs      Attr
	underline  Underline
	link       uint16 // number in the linkTable, 0 without a link
}

func (s *style) hash() uint32 {
	rare := uint64(s.ul)<<32 | uint64(s.link)<<16 | uint64(s.underline)<<12 | uint64(s.attrs)
	h := (uint64(s.fg) | uint64(s.bg)<<32 ^ rare*0xc2b2ae3d27d4eb4f) * 0x9e3779b97f4a7c15
	return uint32(h>>32) ^ uint32(h>>52)
}

// styleTable gives every style in use a number; 0 is the default style. It is an open-addressing
// hash table, because a program that colours every cell looks one up for every cell.
type styleTable struct {
	list  []style
	spare []style  // the list before the last sweep, to be filled by the next
	slots []uint32 // number+1, 0 is free; the length is a power of two
	limit int      // size at which the next sweep is due
}

// The first limit covers programs with many colours without any sweep and keeps the table in the
// processor's first cache; beyond maxStyles, which the largest screens reach, styles lose their
// colours.
const (
	firstStyleLimit = 1024
	maxStyles       = 1 << 20
)

func newStyleTable() styleTable {
	t := styleTable{limit: firstStyleLimit}
	t.rebuildFrom([]style{{}})
	return t
}

// rebuildFrom makes list the whole content of the table. It is called once per sweep, never while
// printing.
func (t *styleTable) rebuildFrom(list []style) {
	t.list = list
	t.limit = max(firstStyleLimit, 2*len(list))
	size := 4 * firstStyleLimit
	for size < 4*t.limit {
		size *= 2
	}
	if len(t.slots) == size {
		clear(t.slots)
	} else {
		t.slots = make([]uint32, size)
	}
	for id, s := range list {
		t.slots[t.findSlot(&s)] = uint32(id) + 1
	}
}

// findSlot returns the slot of s, or the free slot where it belongs. It takes a pointer because the
// pen's fields have just been written one by one: a copy of the whole would wait for them.
func (t *styleTable) findSlot(s *style) int {
	mask := uint32(len(t.slots) - 1)
	i := s.hash() & mask
	for {
		n := t.slots[i]
		if n == 0 || t.list[n-1] == *s {
			return int(i)
		}
		i = (i + 1) & mask
	}
}

// internStyle returns the number of s.
func (t *styleTable) internStyle(s *style) uint32 {
	if *s == (style{}) {
		return 0
	}
	i := t.findSlot(s)
	if n := t.slots[i]; n != 0 {
		return n - 1
	}
	if len(t.list) >= maxStyles {
		return 0
	}
	if 2*len(t.list) >= len(t.slots) {
		t.growSlots()
		i = t.findSlot(s)
	}
	t.list = append(t.list, *s)
	t.slots[i] = uint32(len(t.list))
	return uint32(len(t.list)) - 1
}

// growSlots makes room when more styles than foreseen came between two sweeps.
func (t *styleTable) growSlots() {
	limit := t.limit
	t.rebuildFrom(t.list)
	t.limit = limit
}

func (t *styleTable) isFull() bool { return len(t.list) >= t.limit }
