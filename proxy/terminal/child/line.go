package child

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Line holds the settings by which the program's terminal treats typed bytes (termios(3)).
type Line struct {
	Canonical   bool // ICANON
	Echo        bool // ECHO
	EchoNewline bool // ECHONL
}

// Line returns the line settings. It takes one system call. It may be called from any goroutine
// until Close.
func (t *terminal) Line() (Line, error) {
	now, err := t.lineSettings()
	if err != nil {
		return Line{}, err
	}
	return Line{
		Canonical:   now.Lflag&unix.ICANON != 0,
		Echo:        now.Lflag&unix.ECHO != 0,
		EchoNewline: now.Lflag&unix.ECHONL != 0,
	}, nil
}

// lineSettings returns the line settings. Each call that finds raw mode ends a spell of canonical
// mode.
func (t *terminal) lineSettings() (*unix.Termios, error) {
	now, err := unix.IoctlGetTermios(t.master, ioctlGetTermios)
	if err != nil {
		return nil, fmt.Errorf("line settings: %w", err)
	}
	if now.Lflag&unix.ICANON == 0 {
		t.spell.Add(1)
	}
	return now, nil
}

// CanonicalSpell returns the number of the present spell, in which the kernel collects written
// bytes to lines, or 0 in raw mode, and the characters that end a line, 0 if unused. If two calls
// return one number, no read of the settings in between found raw mode.
func (t *terminal) CanonicalSpell() (spell uint64, ends [9]byte) {
	before := t.spell.Load()
	now, err := t.lineSettings()
	if err != nil || now.Lflag&unix.ICANON == 0 {
		return 0, ends
	}
	cc := now.Cc
	ends = [9]byte{'\n', 0, cc[unix.VEOF], cc[unix.VEOL], cc[unix.VEOL2], cc[unix.VKILL]}
	if now.Iflag&unix.ICRNL != 0 {
		ends[1] = '\r'
	}
	if now.Lflag&unix.ISIG != 0 && now.Lflag&unix.NOFLSH == 0 {
		copy(ends[6:], []byte{cc[unix.VINTR], cc[unix.VQUIT], cc[unix.VSUSP]})
	}
	return before + 1, ends
}

// TranslatesNewlines reports whether the program's terminal makes a new line of each line feed that
// it prints (OPOST and ONLCR).
func (t *terminal) TranslatesNewlines() bool {
	const newLines = unix.OPOST | unix.ONLCR
	now, err := unix.IoctlGetTermios(t.master, ioctlGetTermios)
	return err == nil && now.Oflag&newLines == newLines
}

// maxChain bounds [Child.ForegroundChain].
const maxChain = 6

// ForegroundChain returns the name of the foreground program, then that of the first program that
// it has started and that still runs, and so on: sudo, sudo, vim. Names are the kernel's, of at
// most 15 bytes. It works only on Linux; elsewhere the result is empty.
func (t *terminal) ForegroundChain() []string {
	group := t.ForegroundGroup()
	files := t.files.beginLook(group)
	defer files.end()
	names, _ := files.readChain(group)
	return names
}

// Arguments returns the arguments of the last program of ForegroundChain, its name first, up to 4
// KiB. It works only on Linux; elsewhere the result is nil.
func (t *terminal) Arguments() []string {
	group := t.ForegroundGroup()
	files := t.files.beginLook(group)
	defer files.end()
	_, pid := files.readChain(group)
	if pid == 0 {
		return nil
	}
	text, err := files.readPart(pid, "cmdline", maxArgs)
	if err != nil {
		return nil
	}
	return arguments(text)
}

// InFront returns the program whose process group has the terminal, by the name that it gives
// itself, without path and arguments, and the directory in which it runs, or that of the child if
// it is unknown. Unknown values are "". It works only on Linux.
func (c *Child) InFront() (program, directory string) {
	group := c.ForegroundGroup()
	if group <= 0 {
		return "", ""
	}
	files := c.files.beginLook(group)
	defer files.end()
	if text, err := files.readPart(group, "cmdline", maxArgs); err == nil {
		program = programName(arguments(text)[0])
	}
	if program == "" {
		name, _ := files.readText(group, "comm")
		program = string(name)
	}
	for _, pid := range []int{group, c.Pid()} {
		if dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd"); err == nil {
			return program, dir
		}
	}
	return program, ""
}

// programName returns the name in a first argument: "bash" for "-bash", "vim" for "/usr/bin/vim",
// "nginx" for "nginx: worker process".
func programName(first string) string {
	name, _, _ := strings.Cut(filepath.Base(strings.TrimPrefix(first, "-")), " ")
	return strings.Trim(name, ":./")
}

// readChain returns ForegroundChain of a group, and the process of its last program, or 0.
func (f *procFiles) readChain(group int) (names []string, last int) {
	for pid := group; pid > 0 && len(names) < maxChain; {
		name, fields := f.readStat(pid)
		if fields == nil {
			break
		}
		names, last = append(names, name), pid
		children := f.readChildren(pid, mainThread(pid))
		if len(children) == 0 {
			break
		}
		pid = children[0]
	}
	return names, last
}

// Settings are the line settings that tell line editors apart (termios(3)).
type Settings struct {
	// ICANON, ECHO, ISIG, IEXTEN, IXON, OPOST, ICRNL, INLCR, ISTRIP
	Canonical, Echo, Signals, Extended, Flow, Output, CRToNL, NLToCR, SevenBits bool

	LiteralNext, Quit, Suspend byte // VLNEXT, VQUIT and VSUSP, 0 if off
	// Special holds the characters with an effect beyond the line in canonical mode, 0 if off:
	// VINTR, VQUIT, VSUSP, VEOF, VEOL, VEOL2, VSTART, VSTOP. It leaves out those that edit the
	// line.
	Special [8]byte
}

// Settings returns the line settings that tell line editors apart.
func (t *terminal) Settings() (Settings, error) {
	s, _, err := t.SettingsInSpell()
	return s, err
}

// SettingsInSpell returns Settings and the spell of [Child.CanonicalSpell] at one moment.
func (t *terminal) SettingsInSpell() (s Settings, spell uint64, err error) {
	before := t.spell.Load()
	now, err := t.lineSettings()
	if err != nil {
		return Settings{}, 0, err
	}
	if now.Lflag&unix.ICANON != 0 {
		spell = before + 1
	}
	l, i, cc := now.Lflag, now.Iflag, now.Cc
	return Settings{
		Canonical: l&unix.ICANON != 0, Echo: l&unix.ECHO != 0,
		Signals: l&unix.ISIG != 0, Extended: l&unix.IEXTEN != 0,
		Flow: i&unix.IXON != 0, Output: now.Oflag&unix.OPOST != 0,
		CRToNL: i&unix.ICRNL != 0, NLToCR: i&unix.INLCR != 0,
		SevenBits:   i&unix.ISTRIP != 0,
		LiteralNext: cc[unix.VLNEXT], Quit: cc[unix.VQUIT], Suspend: cc[unix.VSUSP],
		Special: [8]byte{
			cc[unix.VINTR], cc[unix.VQUIT], cc[unix.VSUSP], cc[unix.VEOF],
			cc[unix.VEOL], cc[unix.VEOL2], cc[unix.VSTART], cc[unix.VSTOP],
		},
	}, spell, nil
}
