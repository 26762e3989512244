package policy

import (
	"slices"
	"sync"
)

// Source holds the rules of a session: those at its start and the present ones. An allowing rule
// counts only while it is in both: one added later has no effect, and one removed has no effect
// from then on. A never rule counts if it is in either. Source is safe for concurrent use; a nil
// Source has no rules.
type Source struct {
	read func() (Set, error)
	host string

	mu    sync.Mutex
	began Set
	now   Set
}

// NewSource returns the rules of a session that begins now on a machine of that name. read reads
// the present rules; its error voids all that allow.
func NewSource(began Set, host string, read func() (Set, error)) *Source {
	s := &Source{read: read, host: host}
	s.began = Set{Allow: began.Allow, Never: withPlaces(began.Never)}
	s.now = s.began
	return s
}

// ReloadRules reads the rules again, from files.
func (s *Source) ReloadRules() {
	if s == nil {
		return
	}
	now, err := s.read()
	next := Set{Never: slices.Concat(s.began.Never, withPlaces(now.Never))}
	if err == nil {
		next.Allow = slices.DeleteFunc(slices.Clone(now.Allow), func(r Rule) bool {
			return !slices.ContainsFunc(s.began.Allow, func(b Rule) bool {
				return b.contentKey() == r.contentKey()
			})
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = next
}

// MayForbid reports whether a never rule may apply to an agent.
func (s *Source) MayForbid(a Agent) bool {
	host := s.hostName()
	return slices.ContainsFunc(s.currentRules().Never, func(r Rule) bool {
		return r.isForAgent(Request{Agent: a, Host: host})
	})
}

// Judge applies the rules to a request on this machine. It reads files.
func (s *Source) Judge(a Request) Verdict {
	a.Host = s.hostName()
	return s.currentRules().Judge(a)
}

// FindNever returns the first never rule for an agent in a program. It reads no file.
func (s *Source) FindNever(a Agent, p Program) (Rule, bool) {
	return s.currentRules().FindNever(Request{Agent: a, Program: p, Host: s.hostName()})
}

func (s *Source) hostName() string {
	if s == nil {
		return ""
	}
	return s.host
}

func (s *Source) currentRules() Set {
	if s == nil {
		return Set{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// withPlaces resolves the directories of rules.
func withPlaces(rules []Rule) []Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].places = []string{rules[i].Directory, resolveLinks(rules[i].Directory)}
	}
	return rules
}
