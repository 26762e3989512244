package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/protocol"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/record/replay"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/screen/render"
)

// idleDefault is the default bound of pauses, as on the page.
const idleDefault = 2 * time.Second

// maxPictures bounds the pictures of a film.
const maxPictures = 2_000

// filmOptions are the options of gateway render for films: recordings to attach to a pull request.
type filmOptions struct {
	gif, html      string
	from, to, idle time.Duration
}

func (f *filmOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.gif, "gif", "",
		"write a GIF that plays the recording to `FILE`, with who typed what below it; - for "+
			"standard output")
	flags.StringVar(&f.html, "html", "",
		"write a page that plays the recording, as text and without a script, to `FILE`; - for "+
			"standard output")
	flags.DurationVar(&f.from, "from", 0,
		"with --gif or --html: begin this long after the start of the recording")
	flags.DurationVar(&f.to, "to", 0,
		"with --gif or --html: end this long after the start of the recording (default: its end)")
	flags.DurationVar(&f.idle, "idle", idleDefault,
		"with --gif or --html: shorten pauses to this long; 0 leaves them as they are")
}

func (f *filmOptions) isWanted() bool { return f.gif != "" || f.html != "" }

// checkPart rejects invalid bounds of a part. given is a flag that sets one, or "".
func (f *filmOptions) checkPart(given string) error {
	switch {
	case given != "" && !f.isWanted():
		return cli.Usage("--%s goes with --gif FILE or --html FILE", given)
	case f.from < 0 || f.to < 0 || f.idle < 0:
		return cli.Usage("--from, --to and --idle: must not be negative")
	case f.to > 0 && f.to <= f.from:
		return cli.Usage("--to %s: must be after --from %s", f.to, f.from)
	}
	return nil
}

// writeFilm draws a part of a recording as an animation or a page. It masks text that looks like a
// secret, because the film goes to others.
func writeFilm(ctx context.Context, env *cli.Env, f filmOptions, b []byte) error {
	film, err := replay.NewFilm(ctx, bytes.NewReader(b), env.Taste.Redact, replay.Cut{
		From: f.from,
		To:   f.to,
		Idle: f.idle,
		Most: maxPictures,
	})
	switch {
	case errors.Is(err, record.ErrNoCast):
		return cli.Usage("%w: make one with proxy --record", err)
	case err != nil:
		return cli.Usage("%w", err)
	}
	var out bytes.Buffer
	name := f.gif
	if name != "" {
		err = drawGIF(&out, film)
	} else {
		name = f.html
		err = drawHTML(&out, film)
	}
	if errors.Is(err, render.ErrTooLarge) || errors.Is(err, render.ErrPageTooLarge) {
		return cli.Fail(cli.StatusRefused, "%w", err).WithHint(
			"draw less of the recording, with --from and --to")
	}
	if err != nil {
		return err
	}
	return cli.WriteAnswer(env, "the picture", name, out.Bytes())
}

// captionAt returns the time, and who acted a moment before.
func captionAt(film *replay.Film, at time.Duration) (when, said string, agent bool) {
	when = replay.FormatClock(at)
	if k, ok := replay.NewestMark(film.Marks, at); ok {
		return when, replay.DescribeMark(k, "the user"), k.Kind == protocol.MarkInput
	}
	return when, "", false
}

// drawGIF draws a film with a row below that names who typed.
func drawGIF(out *bytes.Buffer, film *replay.Film) error {
	var g render.GIF
	for _, p := range film.Pictures {
		s := screen.New(screen.Config{Cols: film.Cols, Rows: film.Rows + 1})
		when, said, agent := captionAt(film, p.At)
		color := "2"
		if agent {
			color = "33"
		}
		s.Feed(fmt.Appendf(nil, "\x1b[?7l\x1b[%dH\x1b[%sm%s  %s\x1b[m\x1b[?7h", film.Rows+1, color,
			when, said))
		s.Feed(p.Redraw)
		if err := g.Add(s, p.Stays); err != nil {
			return err
		}
	}
	return g.Write(out)
}

func drawHTML(out *bytes.Buffer, film *replay.Film) error {
	var h render.HTML
	for _, p := range film.Pictures {
		s := screen.New(screen.Config{Cols: film.Cols, Rows: film.Rows})
		s.Feed(p.Redraw)
		when, said, _ := captionAt(film, p.At)
		if err := h.Add(s, when+"  "+said, p.Stays); err != nil {
			return err
		}
	}
	first, last := film.Pictures[0], film.Pictures[len(film.Pictures)-1]
	about := fmt.Sprintf(
		"%s to %s of a recording, %d pictures of %dx%d cells; what looks like a secret is masked.",
		replay.FormatClock(first.At), replay.FormatClock(last.At+last.Stays), len(film.Pictures),
		film.Cols, film.Rows,
	)
	if film.Begun.Unix() > 0 {
		about = film.Begun.UTC().Format("2006-01-02 15:04 MST") + ". " + about
	}
	title := film.Command
	if title == "" {
		title = "A terminal"
	}
	return h.Write(out, title, about)
}
