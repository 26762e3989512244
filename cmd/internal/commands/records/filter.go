package records

import (
	"time"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/proxy/record"
)

// entryFilter selects entries of an audit log. A zero time is no bound.
type entryFilter struct {
	from, to time.Time
	agent    string
}

// parseFilter parses the flags for a session that began at begin.
func (f showOptions) parseFilter(begin time.Time) (entryFilter, error) {
	s := entryFilter{agent: f.agent}
	for _, bound := range []struct {
		name, text string
		at         *time.Time
	}{{"from", f.from, &s.from}, {"to", f.to, &s.to}} {
		if bound.text == "" {
			continue
		}
		at, ok := parseMoment(bound.text, begin.Local())
		if !ok {
			return s, cli.Usage(
				"--%s %.40q: write a time as 15:04, 15:04:05, 2006-01-02 15:04:05, or as the "+
					"time since the session began, such as 90s", bound.name, bound.text)
		}
		*bound.at = at
	}
	if !s.from.IsZero() && !s.to.IsZero() && s.to.Before(s.from) {
		return s, cli.Usage("--to is before --from")
	}
	return s, nil
}

// matchesEntry reports whether an entry is selected. An input takes time: any moment of it counts.
func (s entryFilter) matchesEntry(e *record.Entry) bool {
	begin := e.Time
	if e.Began != nil {
		begin = *e.Began
	}
	switch {
	case e.Kind == record.Shown:
		return false // printed with its inputs
	case s.agent != "" && (e.Agent == nil || e.Agent.Name != s.agent):
		return false
	case !s.from.IsZero() && e.Time.Before(s.from):
		return false
	}
	return s.to.IsZero() || !begin.After(s.to)
}

// parseMoment reads a time of a session that began at begin, in the local time zone.
func parseMoment(text string, begin time.Time) (time.Time, bool) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return begin.Add(d), true
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, true
	}
	for _, layout := range []string{
		"2006-01-02 15:04:05",
		"2006-01-02T15:04:05",
		"2006-01-02 15:04",
		"2006-01-02T15:04",
		"2006-01-02",
	} {
		if at, err := time.ParseInLocation(layout, text, begin.Location()); err == nil {
			return at, true
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		at := time.Date(begin.Year(), begin.Month(), begin.Day(), clock.Hour(), clock.Minute(),
			clock.Second(), clock.Nanosecond(), begin.Location())
		if begin.Sub(at) > 12*time.Hour { // the session went on past midnight
			at = at.AddDate(0, 0, 1)
		}
		return at, true
	}
	return time.Time{}, false
}
