// Package records plays, draws and checks recordings and audit logs.
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

// renderFlags are the flags of gateway render.
type renderFlags struct {
	cols, rows, chunk int
	resizes           []string
	text, ansi        bool
	animate           bool
	svg, png, v2      string
	film              filmFlags
}

// NewRender makes the command gateway render.
func NewRender(env *cli.Env) *cobra.Command {
	var f renderFlags
	cmd := &cobra.Command{
		Use: "render [--ansi | --svg FILE [--animate] | --png FILE | --gif FILE | --html FILE " +
			"| --v2 FILE | --json] [FILE]",
		Short: "Draw a recording, or what a terminal printed",
		Long: "render plays FILE or standard input, an asciicast or the bytes that a program " +
			"printed, and prints the screen at\n" +
			"the end. An asciicast brings its own size. --json prints rows, cursor, title and " +
			"what the terminal would have\n" +
			"answered.\n\n" +
			"--gif and --html draw all that happens, or what happens between --from and --to, " +
			"with who typed it, as evidence for others:\n" +
			"what looks like a secret is masked.",
		Example: "  gateway render session.cast\n" +
			"  gateway render --svg session.svg --animate session.cast\n" +
			"  gateway render --gif fix.gif --from 1m10s --to 1m40s session.cast",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return renderRecording(env, cmd, f, args)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.cols, "cols", 80, "columns of the screen")
	flags.IntVar(&f.rows, "rows", 24, "rows of the screen")
	flags.StringArrayVar(&f.resizes, "resize-at", nil,
		"change the size after OFF bytes of input, as `OFF:COLSxROWS`; may be repeated")
	flags.IntVar(&f.chunk, "chunk", 0, "feed `N` bytes at a time; 0 for all at once")
	flags.BoolVar(&f.text, "text", false, "print plain text (the default)")
	flags.BoolVar(&f.ansi, "ansi", false, "print text with colours")
	flags.StringVar(&f.svg, "svg", "", "write an SVG to `FILE`; - for standard output")
	flags.BoolVar(&f.animate, "animate", false,
		"with --svg: play the whole recording, for a web page or a README")
	flags.StringVar(&f.png, "png", "", "write a PNG to `FILE`; - for standard output")
	flags.StringVar(&f.v2, "v2", "",
		"convert the recording to asciicast v2, for older players, and write it to `FILE`; - for "+
			"standard output")
	f.film.addFlags(cmd)
	exclusive(cmd, "text", "ansi", "svg", "png", "gif", "html", "v2")
	for _, name := range []string{
		"text", "ansi", "png", "gif", "html", "v2", "cols", "rows", "resize-at", "chunk",
	} {
		exclusive(cmd, "animate", name)
	}
	return cmd
}

func renderRecording(env *cli.Env, cmd *cobra.Command, f renderFlags, args []string) error {
	if f.animate && f.svg == "" {
		return cli.Usage("--animate goes with --svg FILE")
	}
	if err := f.film.checkFlags(cmd); err != nil {
		return err
	}
	b, err := readRender(env, args)
	switch {
	case err != nil:
		return err
	case f.film.isWanted():
		return writeFilm(cmd.Context(), env, f.film, b)
	case f.v2 != "":
		return writeOlderFormat(env, f.v2, b)
	case f.animate:
		return writeAnimation(env, f.svg, b)
	}
	s, err := finalScreen(b, f, cmd.Flags().Changed("cols") || cmd.Flags().Changed("rows"))
	if err != nil {
		return err
	}
	return showRender(env, f, s)
}

// exclusive lets only one of these flags stand. cobra knows, for completions, and says so in words
// of its own, for which this is too early.
func exclusive(cmd *cobra.Command, names ...string) {
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

// finalScreen plays the input and returns the screen at its end. A size given on the command line
// wins over an asciicast's.
func finalScreen(b []byte, f renderFlags, sized bool) (*screen.Screen, error) {
	o := render.Options{Cols: f.cols, Rows: f.rows}
	if render.IsCast(b) {
		out, cast, err := render.Cast(b)
		if err != nil {
			return nil, err
		}
		b, o.Resizes = out, cast.Resizes
		if !sized {
			o.Cols, o.Rows = cast.Cols, cast.Rows
		}
	}
	o.Chunk = f.chunk
	for _, s := range f.resizes {
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

func readRender(env *cli.Env, args []string) ([]byte, error) {
	in := io.Reader(env.In)
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
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

func showRender(env *cli.Env, f renderFlags, s *screen.Screen) error {
	text := ""
	switch {
	case f.svg != "":
		return cli.WriteAnswer(env, "the picture", f.svg, []byte(render.SVG(s)))
	case f.png != "":
		var b bytes.Buffer
		if err := render.PNG(&b, s); err != nil {
			return err
		}
		return cli.WriteAnswer(env, "the picture", f.png, b.Bytes())
	case env.JSON:
		b, err := render.JSON(s)
		if err != nil {
			return fmt.Errorf("write the screen: %w", err)
		}
		text = string(b)
	case f.ansi:
		text = render.ANSI(s)
	default:
		text = render.Text(s)
	}
	_, err := io.WriteString(env.Out, text)
	return err
}
