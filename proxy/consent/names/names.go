// Package names gives each agent a display name: a short name of plain characters that differs from
// every other one in the session and cannot be read as an instruction. It also names sessions. It
// must not depend on what agents do.
package names

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

const (
	maxNameLen = 20  // characters of a name, without the number behind it
	maxEntries = 256 // agents whose names are remembered
	nameless   = "agent"
)

// knownClients are the names of well-known clients, as people know them.
var knownClients = map[string]string{
	"claude-code":           "Claude Code",
	"claude-ai":             "Claude",
	"codex-mcp-client":      "Codex",
	"gemini-cli-mcp-client": "Gemini CLI",
	"qwen-cli-mcp-client":   "Qwen Code",
	"copilot-cli":           "Copilot CLI",
	"cursor-vscode":         "Cursor",
	"visual studio code":    "VS Code",
}

// hints are the words for keys in the proxy's own notices: no name may contain one. No name may be
// one of partyWords, which name other parties.
var (
	keyWords = []string{
		"ctrl", "control", "press", "hit", "key", "keys", "enter", "return", "esc", "escape",
	}
	partyWords = []string{"user", "you", "nobody", "proxy", "gateway", "owner", nameless}
)

// DisplayName returns the name that people read for an agent that calls itself raw: at most 20 of
// A-Z a-z 0-9 . _ - and blanks. It is "agent" if nothing is left, or if the name would look like a
// key's or like another party's.
func DisplayName(raw string) string {
	raw = strings.Join(strings.Fields(raw), " ")
	if name := knownClients[strings.ToLower(raw)]; name != "" {
		return name
	}
	var b strings.Builder
	for _, r := range raw {
		switch {
		case isAllowed(r):
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), " -._")
	if len(name) > maxNameLen {
		name = strings.TrimRight(name[:maxNameLen], " -._")
	}
	if name == "" || isMisleading(name) {
		return nameless
	}
	return name
}

// NameFault returns why raw is not allowed as an agent's name, in words for the person who chose
// it, or "" if it is allowed.
func NameFault(raw string) string {
	switch {
	case raw == "" || len(raw) > maxNameLen || strings.Trim(raw, " -._") != raw ||
		strings.ContainsFunc(raw, func(r rune) bool { return !isAllowed(r) }):
		return "use 1 to " + strconv.Itoa(maxNameLen) + " of A-Z a-z 0-9, and . _ - or blanks " +
			"between them"
	case isMisleading(raw):
		return "the user would mistake it for a key or for someone else"
	}
	return ""
}

func isAllowed(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) ||
		strings.ContainsRune(" ._-", r)
}

// isMisleading reports whether a name looks like a key's or like another party's.
func isMisleading(name string) bool {
	name = strings.ToLower(name)
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
	return strings.Contains(name, "ctrl") || slices.Contains(partyWords, strings.Join(words, " ")) ||
		slices.ContainsFunc(words, func(w string) bool { return slices.Contains(keyWords, w) })
}

// Book gives each agent of a session a unique name, which it keeps while it is present. It is safe
// for concurrent use.
type Book struct {
	mu      sync.Mutex
	entries []*entry // the oldest first
}

type entry struct {
	id, base, name string
	gone           bool
}

// AssignName returns the name of the agent with an id that calls itself raw: that of [DisplayName],
// with a number appended if another agent has it. An agent's name becomes free when it leaves.
func (b *Book) AssignName(id, raw string) string {
	base := DisplayName(raw)
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := slices.IndexFunc(b.entries, func(e *entry) bool { return e.id == id }); at >= 0 {
		e := b.entries[at]
		if e.base == base && (!e.gone || !b.isTaken(e.name, e)) {
			e.gone = false
			return e.name
		}
		b.entries = slices.Delete(b.entries, at, at+1)
	}
	name := base
	for n := 2; b.isTaken(name, nil); n++ {
		name = base + " " + strconv.Itoa(n)
	}
	if len(b.entries) >= maxEntries {
		at := max(0, slices.IndexFunc(b.entries, func(e *entry) bool { return e.gone }))
		b.entries = slices.Delete(b.entries, at, at+1)
	}
	b.entries = append(b.entries, &entry{id: id, base: base, name: name})
	return name
}

// FindName returns the name of the agent with an id, or "".
func (b *Book) FindName(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := slices.IndexFunc(b.entries, func(e *entry) bool { return e.id == id }); at >= 0 {
		return b.entries[at].name
	}
	return ""
}

// isTaken reports whether another present agent has a name. Names that differ only in case count as
// equal.
func (b *Book) isTaken(name string, but *entry) bool {
	return slices.ContainsFunc(b.entries, func(e *entry) bool {
		return e != but && !e.gone && strings.EqualFold(e.name, name)
	})
}

// NoteGone notes that an agent will not return.
func (b *Book) NoteGone(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if e.id == id {
			e.gone = true
		}
	}
}

// ResolveName returns the display name of the agent that raw refers to, by its display name or by
// its own. It returns "" for "", which means any agent.
func (b *Book) ResolveName(raw string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if raw == "" || slices.ContainsFunc(b.entries, func(e *entry) bool { return e.name == raw }) {
		return raw
	}
	return DisplayName(raw)
}
