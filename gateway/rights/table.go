package rights

import (
	"strings"

	"terminalproxy/protocol"
)

// column is one kind of participant.
type column struct {
	title string
	can   Can
}

var columns = []column{
	{"proxy", OfRole(RoleProxy, false)},
	{"agent", OfRole(RoleAgent, false)},
	{"viewer", OfRole(RoleViewer, false)},
	{"viewer on the local socket", OfRole(RoleViewer, true)},
	{"owner", OfRole(RoleOwner, false)},
	{"viewer's page", OfPage(RoleViewer)},
	{"owner's page", OfPage(RoleOwner)},
	{"`gateway open`", OfOpener(RoleOwner)},
}

// row is a message, or one effect of a message, with the rights that allow it.
type row struct {
	title string
	need  Can
}

// rowsOf returns the rows of one kind of message.
func rowsOf(kind string) []row {
	name := "`" + kind + "`"
	if kind != protocol.KindOf((*protocol.ControlDecide)(nil)) {
		return []row{{name, needs[kind]}}
	}
	return []row{
		{name + " that takes away from agents", TakeAway},
		{name + " that gives agents more, signed", Give},
		{name + " that gives agents more, not signed", Vouch},
	}
}

const preface = `# Who may send what

A mark means that the role may send the message. Any other message is answered by ` + "`error`" + ` with the code ` + "`forbidden`" + `, has
no effect, and ends a viewer's connection. A marked message reaches the proxy, which decides by itself about input, grants and
signatures. No message changes a sender's role: see "Who you are" in [PROTOCOL.md](PROTOCOL.md).

` + "`go generate ./gateway/rights`" + ` makes this page from the table that gateways use; a test fails if they differ.

`

// Table returns the document of all rights, in Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString(preface + "| message")
	for _, c := range columns {
		b.WriteString(" | " + c.title)
	}
	b.WriteString(" |\n|---" + strings.Repeat("|:-:", len(columns)) + "|\n")
	for _, kind := range protocol.Kinds() {
		for _, r := range rowsOf(kind) {
			b.WriteString("| " + r.title)
			for _, c := range columns {
				mark := ""
				if c.can&r.need != 0 {
					mark = "✓"
				}
				b.WriteString(" | " + mark)
			}
			b.WriteString(" |\n")
		}
	}
	return b.String()
}
