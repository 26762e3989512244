package secretprompt

import "strings"

// Typed counts the characters that the user has typed so far, and how many of them are also signs
// that programs show for a secret. This is all that is recorded of typed text.
type Typed struct{ Text, Signs uint64 }

// AddText counts the characters of b, which is text without control sequences.
func (t *Typed) AddText(b []byte) {
	for _, r := range string(b) {
		if r >= ' ' && r != 0x7f {
			t.Text++
			if strings.ContainsRune(signs, r) {
				t.Signs++
			}
		}
	}
}

// signs are the characters that programs show in place of others.
const signs = "*•●"

// IsSign reports whether the content of a cell may stand for a character.
func IsSign(content string) bool { return content != "" && strings.Contains(signs, content) }

// Spot is the cursor's position, with tests for the cells of its row.
type Spot struct {
	Place Place
	Col   int
	Typed Typed
	// Asked reports whether the text left of a column of the cursor's row ends like any question.
	Asked func(col int) bool
	// Sign reports whether a column of the cursor's row holds a sign: see [IsSign].
	Sign func(col int) bool
}

// minMasks is how many characters the program must answer with signs. After a question one is
// enough.
const minMasks = 2

// Masks recognises a prompt for a secret by its behaviour, in any language: for the characters that
// the user types, as many signs appear left of the cursor, in cells that held no signs before. A
// program that shows the characters themselves, moves over existing signs, or shows signs that the
// user typed does not count. The zero Masks is ready.
type Masks struct {
	spot  Spot
	clear bool // the cell at the cursor held no sign
	last  Typed
	first int // column of the first sign
	n     int // signs in a row
	on    bool
	away  bool // the cursor was elsewhere at the last look
}

// SecretColumn returns the column in which the secret begins. ok is false without a prompt.
func (m *Masks) SecretColumn() (col int, ok bool) { return m.first, m.on }

// UpdateMasks evaluates the screen after output, and reports whether there is a prompt. within is
// set if the cursor is in the second or a later row of the secret.
func (m *Masks) UpdateMasks(s Spot, within bool) bool {
	if m.on {
		here := within || s.Place == m.spot.Place && s.Col >= m.first
		if here || !m.away { // a program may draw elsewhere and return in its next write
			m.away = !here
			return true
		}
		*m = Masks{last: s.Typed}
	}
	fresh := s.Typed != m.last
	m.last = s.Typed
	switch same := s.Place == m.spot.Place; {
	case same && s.Col > m.spot.Col:
		m.judgePassed(s)
	case same && s.Col == m.spot.Col:
		m.clear = m.clear && fresh || !s.Sign(s.Col)
	case fresh && !m.away:
		m.away = true
	default:
		m.n = 0
		m.settleAt(s)
	}
	return m.on
}

// judgePassed judges the cells that the cursor has passed.
func (m *Masks) judgePassed(s Spot) {
	signs := m.clear && s.Typed.Text-m.spot.Typed.Text >= uint64(s.Col-m.spot.Col)
	for col := m.spot.Col; signs && col < s.Col; col++ {
		signs = s.Sign(col)
	}
	switch {
	case !signs:
		m.n = 0
	case s.Typed.Signs == m.spot.Typed.Signs:
		if m.n == 0 {
			m.first = m.spot.Col
		}
		m.n += s.Col - m.spot.Col
		m.on = m.n >= minMasks || s.Asked(m.first)
	}
	answered := m.spot.Typed.Text + uint64(s.Col-m.spot.Col)
	m.settleAt(s)
	if signs {
		m.spot.Typed.Text = answered // the rest of the keys may be answered later
	}
}

// settleAt makes s the spot from which the cursor continues.
func (m *Masks) settleAt(s Spot) {
	m.spot, m.clear, m.away = s, !s.Sign(s.Col), false
	m.spot.Sign, m.spot.Asked = nil, nil
}

// EndsQuestion reports whether a question ends with this character.
func EndsQuestion(content string) bool { return content == ":" || content == "?" || content == "：" }
