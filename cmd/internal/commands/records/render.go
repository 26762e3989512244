// Package records draws and checks recordings and audit logs.
package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/screen/render"
)

// maxRender bounds the input of render: the recording of a day, which fits into memory.
const maxRender = 1 << 30

// renderOptions are the options of gateway render.
type renderOptions struct {
	file              string // - for the standard input
	cols, rows, chunk int
	sized             bool // a size is given, which overrides an asciicast's
	resizes           []string
	text, ansi        bool
	animate           bool
	svg, png, v2      string
}

// NewRender makes the command gateway render.
func NewRender(env *cli.Env) *cobra.Command {
	var opts renderOptions
	cmd := &cobra.Command{
		Use: "render [--ansi | --svg FILE [--animate] | --png FILE | --v2 FILE | --json] " +
			"[FILE]",
		Short: "Draw a recording, or what a terminal printed",
		Long: "render plays FILE or standard input, an asciicast or the bytes that a program " +
			"printed, and prints the screen at\n" +
			"the end. An asciicast brings its own size. --json prints rows, cursor, title and " +
			"what the terminal would have\n" +
			"answered.",
		Example: "  gateway render session.cast\n" +
			"  gateway render --svg session.svg --animate session.cast",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.file = fileArg(args)
			opts.sized = cmd.Flags().Changed("cols") || cmd.Flags().Changed("rows")
			return runRender(env, opts)
		},
	}
	opts.addFlags(cmd)
	return cmd
}

func (in *renderOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&in.cols, "cols", 80, "columns of the screen")
	flags.IntVar(&in.rows, "rows", 24, "rows of the screen")
	flags.StringArrayVar(&in.resizes, "resize-at", nil,
		"change the size after OFF bytes of input, as `OFF:COLSxROWS`; may be repeated")
	flags.IntVar(&in.chunk, "chunk", 0, "feed `N` bytes at a time; 0 for all at once")
	flags.BoolVar(&in.text, "text", false, "print plain text (the default)")
	flags.BoolVar(&in.ansi, "ansi", false, "print text with colours")
	flags.StringVar(&in.svg, "svg", "", "write an SVG to `FILE`; - for standard output")
	flags.BoolVar(&in.animate, "animate", false,
		"with --svg: play the whole recording, for a web page or a README")
	flags.StringVar(&in.png, "png", "", "write a PNG to `FILE`; - for standard output")
	flags.StringVar(&in.v2, "v2", "",
		"convert the recording to asciicast v2, for older players, and write it to `FILE`; - for "+
			"standard output")
	rejectTogether(cmd, "text", "ansi", "svg", "png", "v2")
	for _, name := range []string{
		"text", "ansi", "png", "v2", "cols", "rows", "resize-at", "chunk",
	} {
		rejectTogether(cmd, "animate", name)
	}
}

// fileArg returns the file that a command line names, or - for the standard input.
func fileArg(args []string) string {
	if len(args) == 0 {
		return "-"
	}
	return args[0]
}

// runRender draws a recording, or what a terminal printed.
func runRender(env *cli.Env, opts renderOptions) error {
	if opts.animate && opts.svg == "" {
		return cli.Usage("--animate goes with --svg FILE")
	}
	b, err := readRender(env, opts.file)
	switch {
	case err != nil:
		return err
	case opts.v2 != "":
		return writeOlderFormat(env, opts.v2, b)
	case opts.animate:
		return writeAnimation(env, opts.svg, b)
	}
	s, err := finalScreen(b, opts)
	if err != nil {
		return err
	}
	return showRender(env, opts, s)
}

// rejectTogether rejects the flags if more than one is set. cobra can do that too, but reports it
// later and in its own words.
func rejectTogether(cmd *cobra.Command, names ...string) {
	cmd.MarkFlagsMutuallyExclusive(names...)
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		var given []string
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		switch {
		case len(given) > 1:
			return cli.Usage("%s cannot be used with %s", given[0], given[1])
		case before != nil:
			return before(cmd, args)
		}
		return nil
	}
}

// writeAnimation writes a recording as a moving picture.
func writeAnimation(env *cli.Env, name string, b []byte) error {
	if !render.IsCast(b) {
		return cli.Usage("--animate needs an asciicast: make one with proxy --record")
	}
	var out bytes.Buffer
	if err := render.Animation(&out, b); err != nil {
		return cli.Usage("%w", err)
	}
	return cli.WriteAnswer(env, "the picture", name, out.Bytes())
}

// writeOlderFormat writes a recording in the older format.
func writeOlderFormat(env *cli.Env, name string, b []byte) error {
	var out bytes.Buffer
	if err := record.WriteV2(&out, bytes.NewReader(b)); err != nil {
		return cli.Usage("%w", err)
	}
	return cli.WriteAnswer(env, "the recording", name, out.Bytes())
}

// finalScreen plays the input and returns the screen at its end.
func finalScreen(b []byte, opts renderOptions) (*screen.Screen, error) {
	o := render.Options{Cols: opts.cols, Rows: opts.rows}
	if render.IsCast(b) {
		out, cast, err := render.Cast(b)
		if err != nil {
			return nil, err
		}
		b, o.Resizes = out, cast.Resizes
		if !opts.sized {
			o.Cols, o.Rows = cast.Cols, cast.Rows
		}
	}
	o.Chunk = opts.chunk
	for _, s := range opts.resizes {
		r, err := render.ParseResize(s)
		if err != nil {
			return nil, cli.Usage("--resize-at: %w", err)
		}
		o.Resizes = append(o.Resizes, r)
	}
	s, err := render.Play(b, o)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	return s, nil
}

func readRender(env *cli.Env, file string) ([]byte, error) {
	in := io.Reader(env.In)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, cli.Usage("%w", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxRender+1))
	if err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	if len(b) > maxRender {
		return nil, errors.New("the input is larger than 1 GiB: cut it, e.g. with tail -c")
	}
	return b, nil
}

func showRender(env *cli.Env, opts renderOptions, s *screen.Screen) error {
	text := ""
	switch {
	case opts.svg != "":
		return cli.WriteAnswer(env, "the picture", opts.svg, []byte(render.SVG(s)))
	case opts.png != "":
		var b bytes.Buffer
		if err := render.PNG(&b, s); err != nil {
			return err
		}
		return cli.WriteAnswer(env, "the picture", opts.png, b.Bytes())
	case env.JSON:
		b, err := render.JSON(s)
		if err != nil {
			return fmt.Errorf("write the screen: %w", err)
		}
		text = string(b)
	case opts.ansi:
		text = render.ANSI(s)
	default:
		text = render.Text(s)
	}
	_, err := io.WriteString(env.Out, text)
	return err
}
