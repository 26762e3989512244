package protocol

import "strings"

// Link is a hyperlink (OSC 8) in the columns of a row from From to before To.
type Link struct {
	Row    int    `json:"row"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	Target string `json:"target"`
}

// OpensOnPage reports whether a page offers to open the target of a hyperlink. Others could start
// programs, or run in the page.
func OpensOnPage(target string) bool {
	scheme, rest, ok := strings.Cut(target, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return ok && strings.HasPrefix(rest, "//")
	case "mailto":
		return ok
	}
	return false
}
