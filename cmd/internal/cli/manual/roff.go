package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/process/version"
)

// roff is a page in the macros of man(7).
type roff struct{ strings.Builder }

// newPage starts a page of section 1 with its title, the command's name and its short description.
func newPage(name, short string) *roff {
	r := &roff{}
	fmt.Fprintf(r, ".TH %s 1 %q %q %q\n",
		strings.ToUpper(name), version.Date(), "terminalproxy "+version.Release, "User Commands")
	r.writeSection("Name")
	fmt.Fprintf(r, "%s \\- %s\n", name, escape(short))
	return r
}

func (r *roff) writeSection(title string) { fmt.Fprintf(r, ".SH %s\n", strings.ToUpper(title)) }

// escape keeps man(1) from replacing ASCII characters with typographic ones, which cannot be copied
// into a shell.
var escape = strings.NewReplacer(
	`\`, `\e`, "-", `\-`, "'", `\(aq`,
	"`", `\(ga`, "^", `\(ha`, "~", `\(ti`,
).Replace

// writeText writes paragraphs. Indented lines keep their breaks.
func (r *roff) writeText(text string) {
	asIs := false
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		switch {
		case indented && !asIs:
			r.WriteString(".PP\n.RS 4\n.nf\n")
		case !indented && asIs:
			r.WriteString(".fi\n.RE\n")
		}
		asIs = indented
		line = escape(strings.TrimSpace(line))
		if line == "" {
			line = ".PP"
		} else if strings.HasPrefix(line, ".") {
			line = `\&` + line
		}
		r.WriteString(line + "\n")
	}
	if asIs {
		r.WriteString(".fi\n.RE\n")
	}
}

// writeFlags writes the flags in the words of --help.
func (r *roff) writeFlags(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		flag, value, description := describeFlag(f)
		fmt.Fprintf(r, ".TP\n\\fB%s\\fR", escape(flag))
		switch {
		case strings.HasPrefix(value, "["): // it may be left out, and follows =
			r.WriteString(escape(value))
		case value != "":
			fmt.Fprintf(r, " \\fI%s\\fR", escape(value))
		}
		r.WriteString("\n")
		r.writeText(description)
	})
}

// describeFlag returns a flag's parts in --help: "-h, --help", the name of its value or "", and the
// description.
func describeFlag(f *pflag.Flag) (flag, value, description string) {
	one := pflag.NewFlagSet("", pflag.ContinueOnError)
	one.SortFlags = false
	one.AddFlag(f)
	left, description, _ := strings.Cut(strings.TrimSpace(one.FlagUsages()), "  ")
	at := strings.Index(left, "--"+f.Name) + len("--"+f.Name)
	return left[:at], strings.TrimSpace(left[at:]), strings.TrimSpace(description)
}
