package policy

import (
	"slices"
	"sync"
)

// Source is the rules of a session: those of when it began, and what stands there now. What was added since gives an agent nothing, and
// what was taken away is gone at once; a never counts wherever it stands. Its methods may be called from any goroutine; a nil one has
// no rules.
type Source struct {
	read func() (Set, error)
	host string

	mu    sync.Mutex
	began Set
	now   Set
}

// NewSource makes the rules of a session that begins now on a machine of that name. read reads what stands there now; its error takes away
// all that allows.
func NewSource(began Set, host string, read func() (Set, error)) *Source {
	s := &Source{read: read, host: host}
	s.began = Set{Allow: began.Allow, Never: placed(began.Never)}
	s.now = s.began
	return s
}

// Refresh reads the rules again. It reads files.
func (s *Source) Refresh() {
	if s == nil {
		return
	}
	now, err := s.read()
	next := Set{Never: slices.Concat(s.began.Never, placed(now.Never))}
	if err == nil {
		next.Allow = slices.DeleteFunc(slices.Clone(now.Allow), func(r Rule) bool {
			return !slices.ContainsFunc(s.began.Allow, func(b Rule) bool { return b.says() == r.says() })
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = next
}

// Minds reports whether a never may meet an agent.
func (s *Source) Minds(a Agent) bool {
	host := s.name()
	return slices.ContainsFunc(s.rules().Never, func(r Rule) bool { return r.meets(Ask{Agent: a, Host: host}) })
}

// Judge says what the rules make of a request on this machine. It reads files.
func (s *Source) Judge(a Ask) Verdict {
	a.Host = s.name()
	return s.rules().Judge(a)
}

// Forbids is the first never that an agent meets in front of a program. It reads no file.
func (s *Source) Forbids(a Agent, p Program) (Rule, bool) {
	return s.rules().Forbids(Ask{Agent: a, Program: p, Host: s.name()})
}

func (s *Source) name() string {
	if s == nil {
		return ""
	}
	return s.host
}

func (s *Source) rules() Set {
	if s == nil {
		return Set{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// placed is the rules with what their directories lead to.
func placed(rules []Rule) []Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].places = []string{rules[i].Directory, resolved(rules[i].Directory)}
	}
	return rules
}
