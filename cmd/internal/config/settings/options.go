package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"terminalproxy/proxy"
	"terminalproxy/proxy/display/overlay"
	"terminalproxy/proxy/view/redact"
)

// Option is a setting that is no flag.
type Option struct {
	Table, Key string
	Default    any    // in the syntax of a file
	Help       string // its meaning and its values
	// set stores a value. wanted describes a valid value if this one is invalid, else "".
	set func(t *optionValues, value any) (wanted string)
}

// optionValues holds the values of the options.
type optionValues struct {
	look       overlay.Taste
	add, allow []string
}

// The tables of options.
const (
	tableLook   = "look"
	tableRedact = "redact"
)

// The defaults of the colours, which are entries of the palette of 256.
const (
	builtInText       = 16
	builtInBackground = 214
)

// Options are the settings that are no flags, by table.
var Options = []Option{
	{
		tableLook,
		"colors",
		"auto",
		`colours of questions and of the sign that an agent drives. "auto": what the terminal has; "16": the first 16 of its palette; "none": reverse video`,
		setColors,
	},
	{
		tableLook,
		"text",
		int64(builtInText),
		"colour of their words, 16 to 255 of the palette of 256 colours",
		func(t *optionValues, v any) string { return setEntry(&t.look.Text, v) },
	},
	{
		tableLook,
		"background",
		int64(builtInBackground),
		"colour behind them, 16 to 255. Its contrast to text must be at least 7",
		func(t *optionValues, v any) string { return setEntry(&t.look.Background, v) },
	},
	{
		tableLook,
		"question",
		"bottom",
		`where questions appear: "bottom" or "top". If the cursor is in the way, they go to the other side`,
		setQuestion,
	},
	{
		tableLook,
		"sign",
		"bottom",
		`where the sign that an agent drives appears: "bottom", "top" or "off". The window title says it in any case`,
		setSign,
	},
	{
		tableRedact,
		"add",
		[]any{},
		"regular expressions (RE2) of what agents must not see: the first group, or the whole " +
			"match. A match is masked once it is whole",
		func(t *optionValues, v any) string { return setList(&t.add, v) },
	},
	{
		tableRedact,
		"allow",
		[]any{},
		"regular expressions (RE2) of what looks like a secret but is not. They do not show " +
			"what add masks",
		func(t *optionValues, v any) string { return setList(&t.allow, v) },
	},
}

func setColors(t *optionValues, value any) string {
	switch value {
	case "auto":
	case "16":
		t.look.Limited, t.look.Colors = true, overlay.FewColors
	case "none":
		t.look.Limited, t.look.Colors = true, overlay.NoColors
	default:
		return `"auto", "16" or "none"`
	}
	return ""
}

func setEntry(to *uint8, value any) string {
	n, ok := value.(int64)
	if !ok || n < 16 || n > 255 {
		return "a number from 16 to 255, without quotes"
	}
	*to = uint8(n)
	return ""
}

func setQuestion(t *optionValues, value any) string {
	t.look.LineOnTop = value == "top"
	if value != "top" && value != "bottom" {
		return `"bottom" or "top"`
	}
	return ""
}

func setSign(t *optionValues, value any) string {
	t.look.SignOnTop, t.look.NoSign = value == "top", value == "off"
	if value != "top" && value != "bottom" && value != "off" {
		return `"bottom", "top" or "off"`
	}
	return ""
}

func setList(to *[]string, value any) string {
	all, ok := listOf(value)
	if !ok {
		return `a list of texts, in single quotes each: ['…']`
	}
	*to = all
	return ""
}

// Taste returns the values of the file's options. f may be nil.
func (f *File) Taste() (proxy.Taste, error) {
	var all optionValues
	if err := errors.Join(f.readOptions(tableLook, &all), f.readOptions(tableRedact, &all)); err != nil {
		first, _ := errors.AsType[*Error](err)
		return proxy.Taste{}, first
	}
	if err := f.checkContrast(&all.look); err != nil {
		return proxy.Taste{}, err
	}
	own, err := redact.NewOwn(all.add, all.allow)
	if err != nil {
		list, _, _ := strings.Cut(err.Error(), ":")
		t := f.Table(tableRedact)
		return proxy.Taste{}, t.LineError(t.Line(list), "", "%v", err)
	}
	return proxy.Taste{Redact: own, Look: all.look}, nil
}

// SafeTaste returns the options that count even if something in the file is wrong: the good ones
// about what agents must not see. f may be nil.
func (f *File) SafeTaste() proxy.Taste {
	var all optionValues
	_ = f.readOptions(tableRedact, &all) // said already
	good := slices.DeleteFunc(all.add, func(text string) bool {
		_, err := redact.NewOwn([]string{text}, nil)
		return err != nil
	})
	own, err := redact.NewOwn(good[:min(len(good), redact.MaxOwn)], nil)
	if err != nil {
		return proxy.Taste{}
	}
	return proxy.Taste{Redact: own}
}

// readOptions reads the good options of a table. The error joins the faults of the others.
func (f *File) readOptions(name string, all *optionValues) error {
	t := f.Table(name)
	if t == nil {
		return nil
	}
	var known []string
	for _, o := range Options {
		if o.Table == name {
			known = append(known, o.Key)
		}
	}
	var wrong []error
	for _, s := range t.Settings {
		i := slices.IndexFunc(Options, func(o Option) bool {
			return o.Table == name && o.Key == s.Key
		})
		if i < 0 {
			wrong = append(wrong, t.UnknownNameError(s.Line, "setting", s.Key, known))
		} else if wanted := Options[i].set(all, s.Value); wanted != "" {
			wrong = append(wrong, t.LineError(s.Line, "", "%s: must be %s", s.Key, wanted))
		}
	}
	for _, sub := range t.Tables {
		wrong = append(wrong, t.UnknownNameError(sub.FirstLine(), "setting", sub.lastName(), known))
	}
	return errors.Join(wrong...)
}

// checkContrast refuses colours that people cannot tell from each other.
func (f *File) checkContrast(look *overlay.Taste) error {
	if look.Text == 0 && look.Background == 0 {
		return nil
	}
	key := "text"
	if look.Text == 0 {
		key, look.Text = "background", builtInText
	}
	if look.Background == 0 {
		look.Background = builtInBackground
	}
	if contrast, ok := overlay.Readable(look.Text, look.Background); !ok {
		t := f.Table(tableLook)
		return t.LineError(t.Line(key),
			fmt.Sprintf("try background = %d, or text = %d", builtInBackground, builtInText),
			"%s: the contrast of %d on %d is %.1f, must be at least 7", key, look.Text,
			look.Background, contrast)
	}
	return nil
}

// lastName returns the table's name without those that it stands in.
func (t *Table) lastName() string { return t.Name[strings.LastIndexByte(t.Name, '.')+1:] }
