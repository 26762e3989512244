package screen

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle bounds a title, in bytes.
const maxTitle = 1024

// performOSC performs an operating system command: a number, a semicolon, and text (ctlseqs,
// "Operating System Commands").
func (t *terminal) performOSC(s []byte) {
	number, rest, _ := bytes.Cut(s, []byte{';'})
	n, err := strconv.Atoi(string(number))
	if err != nil {
		t.palette.noteOther(-1, string(s))
		return
	}
	text := string(rest)
	switch n {
	case 0:
		t.setTitle(cleanTitle(text))
		t.icon = t.title
	case 1:
		t.icon = cleanTitle(text)
	case 2:
		t.setTitle(cleanTitle(text))
	case 4:
		t.oscPalette(text)
	case 7:
		t.oscCwd(text)
	case 8:
		t.oscLink(text)
	case 9:
		t.osc9(text)
	case 10, 11, 12:
		t.oscDynamic(n, text)
	case 52: // never obeyed: the clipboard belongs to the user
	case 104:
		t.oscResetPalette(text)
	case 110, 111, 112:
		t.palette.dynamic[n-110] = rgb{}
		t.touchAll()
	case 133:
		t.oscMark(text)
	case 633:
		t.oscVSCode(text)
	case 1337:
		t.oscITerm2(text)
	default:
		t.palette.noteOther(n, text)
	}
}

// cleanTitle makes a title fit to be shown: valid UTF-8, without controls, at most maxTitle bytes.
func cleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	for len(s) > maxTitle {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

// oscCwd is OSC 7: a file URL that names the shell's directory (kitty-shell-cwd is the same without
// escapes).
func (t *terminal) oscCwd(text string) {
	rest, escaped := strings.CutPrefix(text, "file://")
	if !escaped {
		var ok bool
		if rest, ok = strings.CutPrefix(text, "kitty-shell-cwd://"); !ok {
			return
		}
	}
	slash := strings.IndexByte(rest, '/') // before it stands the host
	if slash < 0 {
		return
	}
	host, path := rest[:slash], rest[slash:]
	if escaped {
		path = unescape(path)
	}
	t.setCwd(host, path)
}

// setCwd notes the shell's directory, which observers are not told where the user hides the screen.
func (t *terminal) setCwd(host, path string) {
	if t.veil&hiddenMark != 0 {
		host, path = "", ""
	}
	t.host, t.cwd = cleanTitle(host), cleanTitle(path)
}

// titles is an entry of the title stack (ctlseqs, CSI 22 t).
type titles struct{ title, icon string }

const maxTitles = 10

func (t *terminal) pushTitle() {
	if len(t.titleStack) < maxTitles {
		t.titleStack = append(t.titleStack, titles{t.title, t.icon})
	}
}

func (t *terminal) popTitle() {
	if n := len(t.titleStack); n > 0 {
		t.setTitle(t.titleStack[n-1].title)
		t.icon = t.titleStack[n-1].icon
		t.titleStack = t.titleStack[:n-1]
	}
}

// link is the target of a hyperlink.
type link struct{ target, id string }

// linkTable holds the hyperlinks that stand in cells; number 0 means no link.
type linkTable struct {
	list  []link
	ids   map[link]uint16
	limit int
}

// The limits of hyperlinks: longer targets and ids are ignored, and links beyond maxLinks are not
// recorded.
const (
	maxLinkTarget  = 2083
	maxLinkID      = 250
	maxLinks       = 4096
	firstLinkLimit = 256
)

func (l *linkTable) at(n uint16) link {
	if n == 0 {
		return link{}
	}
	return l.list[n-1]
}

func (l *linkTable) internLink(k link) uint16 {
	if n, ok := l.ids[k]; ok {
		return n
	}
	if len(l.list) >= maxLinks {
		return 0
	}
	if l.ids == nil {
		l.ids = make(map[link]uint16)
	}
	l.list = append(l.list, k)
	n := uint16(len(l.list))
	l.ids[k] = n
	return n
}

func (l *linkTable) isFull() bool { return len(l.list) >= max(l.limit, firstLinkLimit) }

// oscLink is OSC 8: params ; URI. An empty URI ends the link.
func (t *terminal) oscLink(text string) {
	list, target, ok := strings.Cut(text, ";")
	if !ok {
		return
	}
	k := link{target: target}
	for _, p := range strings.Split(list, ":") {
		if id, found := strings.CutPrefix(p, "id="); found {
			k.id = id
		}
	}
	p := t.pen
	p.link = 0
	if target != "" && len(target) <= maxLinkTarget && len(k.id) <= maxLinkID &&
		isPrintable(target+k.id) {
		p.link = t.links.internLink(k)
	}
	t.setPen(p)
}

func isPrintable(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// MarkState is where the shell is between a prompt and the end of a command.
type MarkState uint8

// The states that OSC 133 and 633 tell: A, B, C and D.
const (
	NoMark         MarkState = iota // no mark was seen, or the last command has ended (D)
	AtPrompt                        // the prompt is being printed
	AtInput                         // the prompt is there; the user types
	RunningCommand                  // the command runs
)

// Marks is what the shell said with OSC 133 (FinalTerm) or 633 (VS Code).
type Marks struct {
	State   MarkState
	Exit    int  // exit status of the last command
	HasExit bool // whether Exit is known
	Rev     uint64
}

// oscVSCode is OSC 633, which has more than 133: the command line (E) and properties (P), of which
// only the directory matters.
func (t *terminal) oscVSCode(text string) {
	kind, rest, _ := strings.Cut(text, ";")
	value, _, _ := strings.Cut(rest, ";")
	switch kind {
	case "E":
		if n := len(t.shells); n > 0 && t.shells[n-1].runs == nil {
			t.shells[n-1].line = unquote(value)
		}
	case "P":
		if path, ok := strings.CutPrefix(value, "Cwd="); ok {
			t.setCwd("", unquote(path))
		}
	default:
		t.oscMark(text)
	}
}

// unquote resolves the escapes of OSC 633: \xAB for a byte, and \\ for a backslash.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] == 'x' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// oscMark is OSC 133, and what 633 has in common with it.
func (t *terminal) oscMark(text string) {
	kind, rest, _ := strings.Cut(text, ";")
	m := t.marks
	var exit *int
	switch kind {
	case "A", "N":
		// of a line that goes on, or at the right
		if given := options(rest)["k"]; given != "" && given != "i" {
			return
		}
		kind = "A"
		m.State = AtPrompt
	case "B":
		m.State = AtInput
	case "C":
		m.State = RunningCommand
	case "D":
		m.State = NoMark
		status, _, _ := strings.Cut(rest, ";")
		n, err := strconv.Atoi(status)
		if m.Exit, m.HasExit = n, err == nil; m.HasExit {
			exit = &n
		}
	default:
		return
	}
	m.Rev = t.tick
	t.marks = m
	t.hearShell(kind, rest, exit)
}

// setTitle sets the window's title. It counts, because an addition to the title of the user's
// window has to be made again after each.
func (t *terminal) setTitle(s string) {
	t.title = s
	t.titleSets++
}
