package rights

import (
	"strings"

	"terminalproxy/protocol"
)

// column is a kind of participant in the table.
type column struct {
	title string
	can   Can
}

var columns = []column{
	{"proxy", Of(RoleProxy, false)},
	{"agent", Of(RoleAgent, false)},
	{"viewer", Of(RoleViewer, false)},
	{"viewer on the local socket", Of(RoleViewer, true)},
	{"owner", Of(RoleOwner, false)},
	{"viewer's page", OfPage(RoleViewer)},
	{"owner's page", OfPage(RoleOwner)},
	{"`gateway open`", OfOpener(RoleOwner)},
}

// row is a message, or what a message does, with what it needs.
type row struct {
	title string
	need  Can
}

// rows are those of a kind of message.
func rows(kind string) []row {
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

Made by ` + "`go generate ./gateway/rights`" + ` of the table that gateways ask; a test fails where this page differs from it. Nothing in a
message changes who somebody is: see "Who you are" in [PROTOCOL.md](PROTOCOL.md). Everything that is not marked is answered by an
` + "`error`" + ` with the code ` + "`forbidden`" + `, and has no effect; a viewer's connection ends with it. What is marked reaches the proxy, which
decides by itself about input, grants and signatures.

`

// Table is the document of all rights, as Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString(preface + "| message")
	for _, c := range columns {
		b.WriteString(" | " + c.title)
	}
	b.WriteString(" |\n|---" + strings.Repeat("|:-:", len(columns)) + "|\n")
	for _, kind := range protocol.Kinds() {
		for _, r := range rows(kind) {
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
