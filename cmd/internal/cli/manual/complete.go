package manual

import (
	"embed"
	"strings"

	"github.com/spf13/pflag"
)

//go:embed shells
var shells embed.FS

// flagValues holds the valid values of proxy's flags, by flag name.
var flagValues = map[string][]string{
	"grant":     {"drive", "type"},
	"notify":    {"terminal", "off"},
	"log-level": {"debug", "info", "warn", "error"},
}

// option is a flag as a shell sees it.
type option struct {
	*pflag.Flag
	value   string // the value's name in --help, "" if the flag takes no value
	summary string // the beginning of its text in --help
}

// visibleOptions returns the flags that --help shows.
func visibleOptions(set *pflag.FlagSet) []option {
	var all []option
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		_, value, description := describeFlag(f)
		all = append(all, option{f, value, shortenDescription(description)})
	})
	return all
}

// shortenDescription returns the first part of a description, which fits beside a flag.
func shortenDescription(description string) string {
	for _, end := range []string{" (", ", e.g.", ". ", "; ", ": "} {
		description, _, _ = strings.Cut(description, end)
	}
	return strings.NewReplacer("[", "(", "]", ")").Replace(description)
}

func (o option) longForm() string { return "--" + o.Name }

// takesValue reports whether the next word is the flag's value.
func (o option) takesValue() bool { return o.NoOptDefVal == "" }

func (o option) takesFile() bool { return o.value == "FILE" }

// fillTemplate replaces marks in a shell's file. Each mark stands before its text.
func fillTemplate(shell string, marksAndTexts ...string) string {
	template, err := shells.ReadFile("shells/proxy." + shell)
	if err != nil {
		panic(err) // the file is embedded
	}
	return strings.NewReplacer(marksAndTexts...).Replace(string(template))
}

func longForms(set *pflag.FlagSet, fits func(option) bool) []string {
	var names []string
	for _, o := range visibleOptions(set) {
		if fits(o) {
			names = append(names, o.longForm())
		}
	}
	return names
}

func bashCompletion(set *pflag.FlagSet) string {
	var cases []string
	for _, o := range visibleOptions(set) {
		if known := flagValues[o.Name]; known != nil {
			values := strings.Join(known, " ")
			cases = append(cases,
				o.longForm()+`) COMPREPLY=($(compgen -W "`+values+`" -- "$cur")) ;;`)
		}
	}
	return fillTemplate("bash",
		"@FLAGS@", strings.Join(longForms(set, func(option) bool { return true }), " "),
		"@VALUED@", strings.Join(longForms(set, option.takesValue), " | "),
		"@FILES@", strings.Join(longForms(set, option.takesFile), " | "),
		"@WORDS@", strings.Join(cases, "\n\t\t"))
}

func zshCompletion(set *pflag.FlagSet) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	var specs []string
	for _, o := range visibleOptions(set) {
		spec := o.longForm()
		if o.takesValue() {
			spec += "="
		}
		spec += "[" + strings.ReplaceAll(o.summary, ":", `\:`) + "]"
		switch {
		case flagValues[o.Name] != nil:
			spec += ":" + o.value + ":(" + strings.Join(flagValues[o.Name], " ") + ")"
		case o.takesFile():
			spec += ":" + o.value + ":_files"
		case o.takesValue():
			spec += ":" + o.value + ": "
		}
		if strings.HasSuffix(o.Value.Type(), "Array") {
			spec = "*" + spec
		}
		specs = append(specs, quote(spec))
		if o.Shorthand != "" {
			specs = append(specs, quote("-"+o.Shorthand+"["+o.summary+"]"))
		}
	}
	return fillTemplate("zsh", "@SPECS@", strings.Join(specs, " \\\n\t"))
}

func fishCompletion(set *pflag.FlagSet) string {
	escapes := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	quote := func(s string) string { return "'" + escapes.Replace(s) + "'" }
	var lines []string
	for _, o := range visibleOptions(set) {
		line := []string{"complete", "-c", "proxy", "-n", "'not __proxy_program'", "-l", o.Name}
		if o.Shorthand != "" {
			line = append(line, "-s", o.Shorthand)
		}
		switch {
		case flagValues[o.Name] != nil:
			line = append(line, "-x", "-a", quote(strings.Join(flagValues[o.Name], " ")))
		case o.takesFile():
			line = append(line, "-r", "-F")
		case o.takesValue():
			line = append(line, "-x")
		}
		line = append(line, "-d", quote(o.summary))
		lines = append(lines, strings.Join(line, " "))
	}
	return fillTemplate("fish",
		"@FLAGS@", strings.Join(lines, "\n"),
		"@VALUED@", strings.Join(longForms(set, option.takesValue), " "))
}
