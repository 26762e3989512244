package rights

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
		{name + " that takes away from agents", Restrict},
		{"signed " + name + " that gives agents more", Forward},
		{"unsigned " + name + " that gives agents more", Unsigned},
	}
}

const preface = `# Who may send what

A mark means that the role may send the messages. The proxy still decides by itself about input, grants and signatures. Any
other message is answered by ` + "`error`" + ` with the code ` + "`forbidden`" + `, has no effect, and ends a viewer's connection. No message
changes a sender's role: see "Who you are" in [PROTOCOL.md](PROTOCOL.md). Only gateways send the messages of the last row.

` + "`go test ./gateway/access/rights -update`" + ` makes this page from the table that gateways use; a test fails if they differ.

`

var update = flag.Bool("update", false, "write the document of all rights anew")

// The document of all rights has a row for the messages with equal rights. Those that only gateways
// send come last.
func TestTheDocumentIsMadeOfTheTable(t *testing.T) {
	titles := map[string][]string{}
	var marks []string
	for _, kind := range protocol.Kinds() {
		for _, r := range rowsOf(kind) {
			of := marksOf(r.need)
			if titles[of] == nil {
				marks = append(marks, of)
			}
			titles[of] = append(titles[of], r.title)
		}
	}
	last := marksOf(0)
	marks = append(slices.DeleteFunc(marks, func(of string) bool { return of == last }), last)
	var b strings.Builder
	b.WriteString(preface + "| messages |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---" + strings.Repeat("|:-:", len(columns)) + "|\n")
	for _, of := range marks {
		b.WriteString("| " + strings.Join(titles[of], ", ") + " |" + of + "\n")
	}
	const path = "../../../protocol/ROLES.md"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	}
	document, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(document), "run: go test ./gateway/access/rights -update")
}

// marksOf returns the cells of a message that needs one of these rights.
func marksOf(need Can) string {
	var b strings.Builder
	for _, c := range columns {
		if c.can&need != 0 {
			b.WriteString(" ✓ |")
		} else {
			b.WriteString(" |")
		}
	}
	return b.String()
}
