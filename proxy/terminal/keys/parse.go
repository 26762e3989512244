package keys

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxRepeat bounds the repeat of one press.
const maxRepeat = 1000

const syntax = "a key is one character, or a name such as enter, esc, tab, backspace, up, pagedown, " +
	"f5, kp-enter; put ctrl-, alt-, shift- or super- before it (ctrl-c, C-c, ^C, M-x), and *N after " +
	"it to repeat it (down*3, at most 1000)"

// modifiers are the prefixes of a key. Each works with - and +.
var modifiers = map[string]int32{
	"ctrl": modCtrl, "control": modCtrl, "c": modCtrl,
	"alt": modAlt, "meta": modAlt, "option": modAlt, "opt": modAlt, "m": modAlt, "a": modAlt,
	"shift": modShift, "s": modShift,
	"super": modSuper, "cmd": modSuper, "win": modSuper,
	"hyper": modHyper,
}

var specialByName = sync.OnceValue(func() map[string]*special {
	index := map[string]*special{}
	for _, k := range specials() {
		index[k.name] = k
		for _, alias := range k.aliases {
			index[alias] = k
		}
	}
	return index
})

// Parse reads the name of a key: ctrl-c, C-c, ^C, esc, enter, shift-tab, alt-x, M-x, ctrl-alt-x,
// f5, kp-enter, any single character, or one of these with a repeat (down*3). Names and modifiers
// are matched without regard to case; a single character is itself, so that X is a capital x,
// except after Ctrl.
func Parse(name string) (Press, error) {
	base, count, err := cutRepeat(name)
	if err != nil {
		return Press{}, err
	}
	k := Press{Count: count, name: base}
	rest := base
	for {
		if k.setKey(rest) {
			return k, nil
		}
		mod, after := cutModifier(rest)
		if mod == 0 {
			return Press{}, unknownKey(name, rest)
		}
		if k.mods&mod != 0 {
			return Press{}, fmt.Errorf("key %q names a modifier twice; %s", name, syntax)
		}
		k.mods |= mod
		rest = after
	}
}

func cutRepeat(name string) (base string, count int, err error) {
	at := strings.LastIndexByte(name, '*')
	if at <= 0 || at == len(name)-1 || strings.Trim(name[at+1:], "0123456789") != "" {
		return name, 1, nil
	}
	count, err = strconv.Atoi(name[at+1:])
	if err != nil || count < 1 || count > maxRepeat {
		return "", 0, fmt.Errorf("key %q: repeat %s is out of range; give 1 to %d", name, name[at+1:], maxRepeat)
	}
	return name[:at], count, nil
}

// setKey sets the key named by the rest of a name, after its modifiers. It reports false if rest
// names no key.
func (k *Press) setKey(rest string) bool {
	if r, n := utf8.DecodeRuneInString(rest); n > 0 && n == len(rest) && isPrintable(r) {
		key, shift := unshift(r)
		letter := shift && shifted(key) == r && 'a' <= key && key <= 'z'
		if shift && (k.mods&modCtrl == 0 || !letter) { // ctrl-C is ctrl-c: people write it so
			k.mods |= modShift
		}
		k.r = key
		return true
	}
	lower := strings.ToLower(rest)
	switch lower {
	case "space", "spc":
		k.r = ' '
		return true
	case "backtab", "btab":
		k.mods |= modShift
		lower = "tab"
	}
	k.key = specialByName()[lower]
	return k.key != nil
}

// cutModifier cuts a modifier from the front of a name; mod is 0 without one.
func cutModifier(name string) (mod int32, rest string) {
	if after, ok := strings.CutPrefix(name, "^"); ok && utf8.RuneCountInString(after) == 1 {
		return modCtrl, after
	}
	at := strings.IndexAny(name, "-+")
	if at < 1 || at == len(name)-1 {
		return 0, ""
	}
	return modifiers[strings.ToLower(name[:at])], name[at+1:]
}

// unknownKey returns the error for an unknown key, with the names that are similar.
func unknownKey(name, rest string) error {
	if rest == "" {
		return fmt.Errorf("key name is empty; %s", syntax)
	}
	if r, n := utf8.DecodeRuneInString(rest); n == len(rest) || r == utf8.RuneError {
		return fmt.Errorf("key %q is not a character that a key types; %s", name, syntax)
	}
	if near := nearNames(strings.ToLower(rest)); len(near) > 0 {
		return fmt.Errorf("no key is called %q; near it: %s; %s", name, strings.Join(near, ", "), syntax)
	}
	return fmt.Errorf("no key is called %q; %s", name, syntax)
}

func nearNames(name string) []string {
	const most = 4
	if len(name) > 20 {
		return nil
	}
	var near []string
	for _, k := range specials() {
		d := distance(name, k.name)
		for _, alias := range k.aliases {
			d = min(d, distance(name, alias))
		}
		if d <= 1+len(name)/4 && len(near) < most {
			near = append(near, k.name)
		}
	}
	return near
}

// distance returns the Levenshtein distance. It is 1 if b begins with a.
func distance(a, b string) int {
	if len(a) > 1 && strings.HasPrefix(b, a) {
		return 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left, diagonal := i+1, i
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j] = left
			left = min(cost, left+1, diagonal+1)
		}
		row[len(b)] = left
	}
	return row[len(b)]
}
