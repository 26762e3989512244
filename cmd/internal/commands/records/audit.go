package records

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/text"
	"terminalproxy/proxy/record"
)

// NewAudit makes the command gateway audit.
func NewAudit(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Check and read the audit log of a recording", Args: cobra.NoArgs,
		Long: "audit reads the log that proxy --record FILE writes to FILE" + record.AuditSuffix +
			": who typed what, under which grant, and on\n" +
			"which screen. Each entry is chained to the one before it by a hash.",
		RunE: func(*cobra.Command, []string) error { return cli.Usage("audit: use verify or show") },
	}
	cmd.AddCommand(newAuditVerify(env), newAuditShow(env))
	return cmd
}

// openLog opens an audit log, which may be named by its recording.
func openLog(name string) (*os.File, error) {
	if !strings.HasSuffix(name, record.AuditSuffix) {
		if _, err := os.Stat(name + record.AuditSuffix); err == nil {
			name += record.AuditSuffix
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	return f, nil
}

// compareCast compares the recording beside a log with the checksum in the log.
func compareCast(name string, log *record.Log) (string, error) {
	if !log.Closed() || log.Last.Cast == nil {
		return "unknown", nil
	}
	cast := filepath.Join(filepath.Dir(name), filepath.Base(log.Open.Session.Cast))
	f, err := os.Open(cast)
	if errors.Is(err, fs.ErrNotExist) {
		return "missing", nil
	}
	if err != nil {
		return "unknown", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	switch {
	case err != nil:
		return "unknown", fmt.Errorf("read %s: %w", cast, err)
	case n != log.Last.Cast.Bytes || hex.EncodeToString(sum.Sum(nil)) != log.Last.Cast.SHA256:
		return "differs", cli.Fail(cli.StatusRefused, "%s was changed: it does not match the log %s", cast,
			name)
	}
	return "same", nil
}

// showOptions say which entries audit show shows.
type showOptions struct{ file, from, to, agent string }

func newAuditShow(env *cli.Env) *cobra.Command {
	var opts showOptions
	cmd := &cobra.Command{
		Use:   "show FILE [--from T] [--to T] [--agent NAME]",
		Short: "Show what agents typed, under which grant, and on which screen",
		Args:  cobra.ExactArgs(1),
		Long: "show prints the entries of an audit log, and the screen before an input if it " +
			"differs from the last one shown. Times\n" +
			"are written as 15:04 or 15:04:05 (on the day the session began), 2006-01-02 " +
			"15:04:05, RFC 3339, or as the time since the\n" +
			"session began: 90s, 1h10m.",
		RunE: func(_ *cobra.Command, args []string) error {
			opts.file = args[0]
			return runAuditShow(env, opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.from, "from", "", "start at time `T`")
	flags.StringVar(&opts.to, "to", "", "end at time `T`")
	flags.StringVar(&opts.agent, "agent", "", "show only the agent `NAME`")
	return cmd
}

// runAuditShow shows the entries of an audit log.
func runAuditShow(env *cli.Env, opts showOptions) error {
	f, err := openLog(opts.file)
	if err != nil {
		return err
	}
	defer f.Close()
	return showLog(env, f, opts)
}

// shown is the output of audit show --json. Its inputs include their screens.
type shown struct {
	Session *record.Session `json:"session"`
	Begin   time.Time       `json:"begin"`
	Entries []*record.Entry `json:"entries"`
	Closed  bool            `json:"closed"`
	Cut     bool            `json:"cut"`
	Damage  *damage         `json:"damage,omitempty"`
}

// showLog prints the selected part of a log. It prints a damaged log up to the damage, and fails.
func showLog(env *cli.Env, f *os.File, in showOptions) error {
	var sift entryFilter
	out := shown{Entries: []*record.Entry{}}
	agents := map[string]bool{}
	log, err := record.Read(f, func(e *record.Entry) error {
		if e.Kind == record.Open {
			out.Session, out.Begin = e.Session, e.Time
			var err error
			if sift, err = in.parseFilter(e.Time); err != nil {
				return err
			}
		}
		if e.Agent != nil {
			agents[e.Agent.Name] = true
		}
		if sift.matchesEntry(e) {
			out.Entries = append(out.Entries, e)
		}
		return nil
	})
	out.Closed, out.Cut = log.Closed(), log.Cut
	bad, damaged := errors.AsType[*record.DamageError](err)
	switch {
	case damaged:
		out.Damage = &damage{bad.Line, bad.Why}
		failure := cli.Fail(cli.StatusRefused, "%s: %w; the entries before it are intact", f.Name(), err)
		if log.Lines == 0 {
			failure = cli.Fail(cli.StatusRefused, "%s: %w", f.Name(), err).WithHint(hintLog)
		}
		err = failure
	case err != nil:
		return err
	case log.Lines == 0:
		return cli.Fail(cli.StatusRefused, "%s: %s", f.Name(), describeEmptyLog(log.Cut)).
			WithHint(hintLog)
	case in.agent != "" && !agents[in.agent]:
		return cli.Usage("--agent %q: no entries; %s", in.agent, listAgents(agents))
	}
	var printed error
	switch {
	case env.JSON:
		printed = env.PrintJSON(out)
	case out.Session != nil:
		printed = env.PrintLines(out.entryLines()...)
	}
	return errors.Join(err, printed)
}

func (s *shown) entryLines() []string {
	head := s.Session.Command
	if s.Session.ID != "" {
		head = s.Session.ID + ": " + strings.Join(append([]string{head}, s.Session.Args...), " ")
	}
	lines := []string{text.Clean(strings.ReplaceAll(head, "\n", " "))}
	day, screen := "", ""
	for _, e := range s.Entries {
		if d := e.Time.Local().Format("Monday 2006-01-02, MST"); d != day {
			day = d
			lines = append(lines, day)
		}
		sentence := strings.ReplaceAll(e.Sentence(), "\n", " ")
		lines = append(lines, e.Time.Local().Format("15:04:05.000")+"  "+text.Clean(sentence))
		if e.Kind != record.Input {
			continue
		}
		if e.Written > 0 {
			lines = append(lines, margin+"typed: "+record.Readable(e.Bytes))
		}
		if e.Asked != "" {
			lines = append(lines, margin+"as: "+record.Readable([]byte(e.Asked)))
		}
		if e.Picture != nil && e.Screen != screen {
			screen = e.Screen
			lines = append(lines, screenBefore(e)...)
		}
	}
	if len(s.Entries) == 0 {
		lines = append(lines, "no entries in that time")
	}
	if s.Cut {
		lines = append(lines, "note: the last line of the log is cut off")
	}
	return lines
}

// margin is as wide as the time before a sentence.
const margin = "              "

// screenBefore returns the screen before an input.
func screenBefore(e *record.Entry) []string {
	p := e.Picture
	title := fmt.Sprintf("on the screen before it: %s, %dx%d, cursor %d,%d, rev %d", e.Program,
		p.Cols, p.Rows, p.Row+1, p.Col+1, e.Rev)
	lines := []string{margin + text.Clean(title)}
	rows := p.Lines
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	for _, row := range rows {
		lines = append(lines, margin+"| "+text.Clean(strings.ReplaceAll(row, "\n", " ")))
	}
	return lines
}

func listAgents(agents map[string]bool) string {
	if len(agents) == 0 {
		return "the log names no agents"
	}
	return "the log names " + text.Clean(strings.Join(slices.Sorted(maps.Keys(agents)), ", "))
}
