package pump

import (
	"bytes"
	"fmt"
)

// LongLineError refuses input that would make a line longer than the kernel collects: it drops the
// rest of such a line, and the program runs the truncated one.
type LongLineError struct {
	// Stands is the present length of the line, Size what it would become, and Most its limit, in
	// bytes.
	Stands, Size, Most int
}

// Error implements error: a sentence for the agent.
func (e *LongLineError) Error() string {
	message := fmt.Sprintf(
		"the program reads whole lines, of which the kernel keeps %d bytes: this one would have %d",
		e.Most, e.Size,
	)
	if e.Stands > 0 {
		message += fmt.Sprintf(", %d of them are there already", e.Stands)
	}
	return message + "; end lines earlier, or put the text into a file"
}

// collected is an upper bound of the line that the kernel collects. Erased characters count.
type collected struct {
	spell  uint64
	n      int
	quoted bool // the next character is text
}

// literalNext is the usual VLNEXT, which makes the next character text.
const literalNext = 0x16

// addWritten notes what is written in a spell of canonical mode, or 0, with the characters that end
// a line in it. It returns the greatest length of the line meanwhile.
func (c *collected) addWritten(spell uint64, ends []byte, b []byte) (longest int) {
	if c.spell != spell || spell == 0 {
		*c = collected{spell: spell}
	}
	if spell == 0 {
		return 0
	}
	for _, char := range b {
		switch {
		case !c.quoted && char != 0 && bytes.IndexByte(ends, char) >= 0:
			c.n = 0
			continue
		case c.quoted:
			c.quoted = false
		default:
			c.quoted = char == literalNext
		}
		c.n++
		longest = max(longest, c.n)
	}
	return longest
}

// refuseLong refuses the head of the queue if the step that begins with pieces would make the
// collected line too long.
func (p *Pump) refuseLong(job *pending, pieces []Piece) (refused bool) {
	spell, ends := p.Program.CanonicalSpell()
	if spell == 0 || p.LineMost == 0 || job.fits == spell {
		return false
	}
	line, present, longest := p.collected, 0, 0
	if line.spell == spell {
		present = line.n
	}
	for i, piece := range pieces {
		if i > 0 && piece.Step != 0 {
			break
		}
		longest = max(longest, line.addWritten(spell, ends[:], piece.Bytes))
	}
	if longest <= p.LineMost {
		job.fits = spell
		return false
	}
	p.answerHead(Failed, &LongLineError{Stands: present, Size: longest, Most: p.LineMost})
	return true
}
