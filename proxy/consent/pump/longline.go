package pump

import (
	"bytes"
	"fmt"
)

// LongLineError refuses input that would make a line longer than the kernel collects: the kernel
// drops the rest of such a line, and the program would run the truncated line.
type LongLineError struct {
	// Present is the present length of the line, Size what it would become, and Most its limit, in
	// bytes.
	Present, Size, Limit int
}

// Error implements error: a sentence for the agent.
func (e *LongLineError) Error() string {
	message := fmt.Sprintf(
		"the program reads whole lines, of which the kernel keeps %d bytes: this one would have %d",
		e.Limit, e.Size,
	)
	if e.Present > 0 {
		message += fmt.Sprintf(", %d of them are there already", e.Present)
	}
	return message + "; end lines earlier, or put the text into a file"
}

// collectedLine bounds the length of the line that the kernel collects. It counts erased
// characters, too.
type collectedLine struct {
	spell  uint64
	n      int
	quoted bool // the next character is text
}

// literalNext is the usual VLNEXT, which makes the next character text.
const literalNext = 0x16

// addWritten notes bytes that are written in a spell of canonical mode (0 for raw mode), in which
// ends are the characters that end a line. It returns the greatest length of the line meanwhile.
func (c *collectedLine) addWritten(spell uint64, ends []byte, b []byte) (longest int) {
	if c.spell != spell || spell == 0 {
		*c = collectedLine{spell: spell}
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
	if spell == 0 || p.MaxLine == 0 || job.fits == spell {
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
	if longest <= p.MaxLine {
		job.fits = spell
		return false
	}
	p.answerHead(Failed, &LongLineError{Present: present, Size: longest, Limit: p.MaxLine})
	return true
}
