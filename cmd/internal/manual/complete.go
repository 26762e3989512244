package manual

import (
	"embed"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

//go:embed shells
var shells embed.FS

// words are the values that a flag of proxy knows, by the flag's name.
var words = map[string][]string{
	"grant":     {"drive", "type"},
	"notify":    {"terminal", "off"},
	"log-level": {"debug", "info", "warn", "error"},
}

// option is a flag as a shell sees it.
type option struct {
	*pflag.Flag
	value string // what --help calls its value, "" where it takes none
	brief string // the beginning of what --help says
}

// options are the flags of a set that --help shows.
func options(set *pflag.FlagSet) []option {
	var all []option
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		_, value, says := described(f)
		all = append(all, option{f, value, brief(says)})
	})
	return all
}

// brief is a description that has room beside a flag.
func brief(says string) string {
	for _, end := range []string{" (", ", e.g.", ". ", "; ", ": "} {
		says, _, _ = strings.Cut(says, end)
	}
	return strings.NewReplacer("[", "(", "]", ")").Replace(says)
}

// long is how a flag is typed.
func (o option) long() string { return "--" + o.Name }

// valued reports whether the next word is the flag's.
func (o option) valued() bool { return o.NoOptDefVal == "" }

// file reports whether the value is a file.
func (o option) file() bool { return o.value == "FILE" }

// fill puts the parts into a shell's file, each for its mark.
func fill(shell string, parts ...string) string {
	text, err := shells.ReadFile("shells/proxy." + shell)
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.NewReplacer(parts...).Replace(string(text))
}

// longs are the flags that fit, as they are typed.
func longs(set *pflag.FlagSet, fits func(option) bool) []string {
	var names []string
	for _, o := range options(set) {
		if fits(o) {
			names = append(names, o.long())
		}
	}
	return names
}

func bash(set *pflag.FlagSet) string {
	var cases []string
	for _, o := range options(set) {
		if known := words[o.Name]; known != nil {
			cases = append(cases, o.long()+`) COMPREPLY=($(compgen -W "`+strings.Join(known, " ")+`" -- "$cur")) ;;`)
		}
	}
	return fill("bash",
		"@FLAGS@", strings.Join(longs(set, func(option) bool { return true }), " "),
		"@VALUED@", strings.Join(longs(set, option.valued), " | "),
		"@FILES@", strings.Join(longs(set, option.file), " | "),
		"@WORDS@", strings.Join(cases, "\n\t\t"))
}

func zsh(set *pflag.FlagSet) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	var specs []string
	for _, o := range options(set) {
		spec := o.long()
		if o.valued() {
			spec += "="
		}
		spec += "[" + strings.ReplaceAll(o.brief, ":", `\:`) + "]"
		switch {
		case words[o.Name] != nil:
			spec += ":" + o.value + ":(" + strings.Join(words[o.Name], " ") + ")"
		case o.file():
			spec += ":" + o.value + ":_files"
		case o.valued():
			spec += ":" + o.value + ": "
		}
		if strings.HasSuffix(o.Value.Type(), "Array") {
			spec = "*" + spec
		}
		specs = append(specs, quote(spec))
		if o.Shorthand != "" {
			specs = append(specs, quote("-"+o.Shorthand+"["+o.brief+"]"))
		}
	}
	return fill("zsh", "@SPECS@", strings.Join(specs, " \\\n\t"))
}

func fish(set *pflag.FlagSet) string {
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	var lines []string
	for _, o := range options(set) {
		line := []string{"complete", "-c", "proxy", "-n", "'not __proxy_program'", "-l", o.Name}
		if o.Shorthand != "" {
			line = append(line, "-s", o.Shorthand)
		}
		switch {
		case words[o.Name] != nil:
			line = append(line, "-x", "-a", quote(strings.Join(words[o.Name], " ")))
		case o.file():
			line = append(line, "-r", "-F")
		case o.valued():
			line = append(line, "-x")
		}
		lines = append(lines, strings.Join(slices.Concat(line, []string{"-d", quote(o.brief)}), " "))
	}
	return fill("fish", "@FLAGS@", strings.Join(lines, "\n"), "@VALUED@", strings.Join(longs(set, option.valued), " "))
}
