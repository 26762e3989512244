package filter

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// While the proxy asks the user a question, commands that set colours are kept back, so that they
// cannot make it illegible: OSC 4 to 6, 10 to 19, 21 (kitty), 104 to 106, 110 to 119, those of
// kitty that save and restore colours, OSC 1337 of iTerm2 with Set..., and CSI # P and # Q
// (XTPUSHCOLORS, XTPOPCOLORS). A question in such a command passes.

const (
	maxKept  = 1024     // commands kept back
	maxSaves = 64       // of these, such as save and restore
	maxBody  = 16 << 10 // bytes of one: a whole palette
	maxIndex = 300      // entries of the palette, with the special colours
)

// setting is a command that was kept back. Another one with its key takes its place.
type setting struct {
	key  string // "" for one that later ones do not replace: it saves or restores colours
	text string // the whole sequence
}

// KeepColors sets whether commands that set colours are kept back. KeepColors(false) returns those
// that were, the last for each colour. It must be called between two sequences.
func (f *Filter) KeepColors(on bool) (released []byte) {
	f.keep = on
	if on || len(f.kept) == 0 {
		return nil
	}
	for _, k := range f.kept {
		released = append(released, k.text...)
	}
	f.kept = nil
	return released
}

// isColorCommand reports whether the OSC with a number is about colours.
func isColorCommand(number int) bool {
	return number >= 4 && number <= 6 || number >= 10 && number <= 19 || number == 21 ||
		number >= 104 && number <= 106 || number >= 110 && number <= 119 || number == huge
}

// catching holds the part of a kept-back OSC that has arrived so far.
type catching struct {
	on   bool
	body []byte // from its number on
	over bool   // it is too long to mean anything
}

func (c *catching) addByte(b byte) {
	switch {
	case !c.on || b < ' ':
	case len(c.body) == maxBody:
		c.over = true
	default:
		c.body = append(c.body, b)
	}
}

// finishCaughtOSC splits the OSC that ended into questions and settings. end is the terminator.
func (f *Filter) finishCaughtOSC(end string) {
	body := string(f.catch.body)
	bad := !f.catch.on || f.catch.over
	f.catch = catching{body: f.catch.body[:0]}
	if bad {
		return
	}
	number, text, _ := strings.Cut(body, ";")
	n, _ := strconv.Atoi(strings.TrimLeft(number, " +"))
	command := func(body string) string { return "\x1b]" + body + end }
	switch {
	case n == 4 || n == 5:
		parts := strings.Split(text, ";")
		for i := 0; i+1 < len(parts); i += 2 {
			f.passOrKeep(number+";"+parts[i], parts[i+1] == "?", command(number+";"+parts[i]+";"+parts[i+1]))
		}
	case n == 104 || n == 105:
		f.keepColorReset(strconv.Itoa(n-100)+";", text, command)
	case n >= 10 && n <= 19:
		for i, spec := range strings.Split(text, ";") {
			which := strconv.Itoa(n + i)
			f.passOrKeep(which, spec == "?", command(which+";"+spec))
		}
	case n >= 110 && n <= 119:
		f.passOrKeep(strconv.Itoa(n-100), false, command(body))
	case n == 21:
		for _, item := range strings.Split(text, ";") {
			key, spec, _ := strings.Cut(item, "=")
			f.passOrKeep("21;"+key, spec == "?", command("21;"+item))
		}
	case n == 1337:
		key, _, _ := strings.Cut(text, "=")
		f.passOrKeep("1337;"+key, false, command(body))
	case n == 6 || n == 106:
		which, _, _ := strings.Cut(text, ";")
		f.passOrKeep("6;"+which, false, command(body))
	default:
		f.passOrKeep("", false, command(body))
	}
}

// keepColorReset keeps OSC 104 or 105 back. The keys of the colours they reset begin with prefix.
func (f *Filter) keepColorReset(prefix, list string, command func(string) string) {
	number := "10" + prefix[:1]
	if list != "" {
		for _, n := range strings.Split(list, ";") {
			f.passOrKeep(prefix+n, false, command(number+";"+n))
		}
		return
	}
	f.dropOvertaken(func(key string) bool { return strings.HasPrefix(key, prefix) })
	f.passOrKeep(number, false, command(number))
}

// dropOvertaken drops the overtaken settings that were kept since colours were last saved or
// restored.
func (f *Filter) dropOvertaken(overtaken func(key string) bool) {
	for i := len(f.kept) - 1; i >= 0 && f.kept[i].key != ""; i-- {
		if overtaken(f.kept[i].key) {
			f.kept = slices.Delete(f.kept, i, i+1)
		}
	}
}

// passOrKeep passes a question, and keeps a setting back.
func (f *Filter) passOrKeep(key string, asks bool, text string) {
	if asks || !f.keep {
		f.out = append(f.out, text...)
		return
	}
	saves := 0
	if key != "" {
		f.dropOvertaken(func(other string) bool { return other == key })
	} else {
		for _, k := range f.kept {
			if k.key == "" {
				saves++
			}
		}
	}
	if _, index, ok := strings.Cut(key, ";"); ok && (key[0] == '4' || key[0] == '5') {
		if n, err := strconv.Atoi(index); err != nil || n > maxIndex {
			return
		}
	}
	if len(f.kept) < maxKept && saves < maxSaves {
		f.kept = append(f.kept, setting{key, text})
	}
}

// keepSequence keeps XTPUSHCOLORS or XTPOPCOLORS back.
func (f *Filter) keepSequence(sequence []byte) {
	f.passOrKeep("", false, string(bytes.Clone(sequence)))
}
