package records

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/proxy/record"
)

// verifyOptions say what audit verify expects of a log.
type verifyOptions struct {
	file    string
	head    string
	running bool
}

func newAuditVerify(env *cli.Env) *cobra.Command {
	var opts verifyOptions
	cmd := &cobra.Command{
		Use:   "verify FILE [--head HASH] [--running]",
		Short: "Check that an audit log is whole and unchanged",
		Args:  cobra.ExactArgs(1),
		Long: "verify checks every entry of an audit log, and the recording beside it, and " +
			"names the first bad line. A log without its\n" +
			"end fails: entries may have been cut off. A log has no end while its session runs, " +
			"or after its proxy was killed;\n" +
			"--running accepts that, and an incomplete last line. Anyone who can write the " +
			"whole file can also write a new chain:\n" +
			"keep the head hash that verify prints somewhere else, and compare it with --head.",
		RunE: func(_ *cobra.Command, args []string) error {
			opts.file = args[0]
			return runAuditVerify(env, opts)
		},
	}
	cmd.Flags().StringVar(&opts.head, "head", "",
		"fail unless the last entry has this `HASH`; with --running, any entry may have it")
	cmd.Flags().BoolVar(&opts.running, "running", false,
		"accept a log without its end: the session still runs, or its proxy was killed")
	return cmd
}

// runAuditVerify checks an audit log, and the recording beside it.
func runAuditVerify(env *cli.Env, opts verifyOptions) error {
	opts.head = strings.ToLower(strings.TrimSpace(opts.head))
	if hash, err := hex.DecodeString(opts.head); err != nil || len(hash) != 0 && len(hash) != 32 {
		return cli.Usage(
			"--head: %.80q is not a hash: use the 64 hexadecimal digits that audit verify printed",
			opts.head)
	}
	f, err := openLog(opts.file)
	if err != nil {
		return err
	}
	defer f.Close()
	return verifyRecords(env, f, opts)
}

// verified is the output of audit verify --json.
type verified struct {
	File    string  `json:"file"`
	Entries int     `json:"entries"`
	Head    string  `json:"head,omitempty"`    // hash of the last good entry
	Since   *int    `json:"since,omitempty"`   // entries after the one that --head names
	Closed  bool    `json:"closed"`            // the log has its end
	Cut     bool    `json:"cut"`               // the last line is cut off
	Lost    int64   `json:"lost,omitempty"`    // entries that could not be written
	Gaps    int     `json:"gaps,omitempty"`    // places at which output is missing in the recording
	Missing int64   `json:"missing,omitempty"` // bytes missing there; an open place is not counted
	Open    bool    `json:"open,omitempty"`    // the log ends in such a place
	Cast    string  `json:"recording"`         // same, differs, missing or unknown
	Damage  *damage `json:"damage,omitempty"`
}

type damage struct {
	Line int    `json:"line"`
	Why  string `json:"why"`
}

func verifyRecords(env *cli.Env, f *os.File, in verifyOptions) error {
	v := verified{File: f.Name(), Cast: "unknown"}
	found := 0 // the number of the entry that --head names
	log, err := record.Read(f, func(e *record.Entry) error {
		switch e.Kind {
		case record.Lost:
			v.Lost += e.Missing
		case record.Gap:
			v.addGap(e)
		default:
		}
		if in.head != "" && e.Hash == in.head {
			found = int(e.N) //nolint:gosec // the number of lines fits
		}
		return nil
	})
	v.Entries, v.Head, v.Closed, v.Cut = log.Lines, log.Head, log.Closed(), log.Cut
	if found > 0 {
		since := v.Entries - found
		v.Since = &since
	}
	if bad, damaged := errors.AsType[*record.DamageError](err); damaged {
		v.Damage = &damage{bad.Line, bad.Why}
		failure := v.newFailure("%s", bad.Error())
		if v.Entries == 0 {
			failure = failure.WithHint(hintLog)
		}
		err = failure
	} else if err != nil {
		return err
	} else if err = v.checkExpected(in); err == nil {
		v.Cast, err = compareCast(f.Name(), log)
	}
	var printed error
	if env.JSON {
		printed = env.PrintJSON(v)
	} else if err == nil {
		printed = env.PrintLines(v.reportLines()...)
	}
	return errors.Join(err, printed)
}

// addGap counts a place at which output is missing. An older log has only the ends of such places.
func (v *verified) addGap(e *record.Entry) {
	v.Open = e.On != nil && *e.On
	if v.Open || e.On == nil {
		v.Gaps++
	}
	v.Missing += e.Missing
}

func (v verified) newFailure(format string, args ...any) *cli.Failure {
	return cli.Fail(cli.StatusRefused, "%s: %w", v.File, fmt.Errorf(format, args...))
}

// hintLog is the next step after a file that is no log.
const hintLog = "name the recording, or its log: FILE.audit.jsonl"

// describeEmptyLog says what a file without an entry is. isCut says that it holds something.
func describeEmptyLog(isCut bool) string {
	if isCut {
		return "it has no whole entry, so this is no audit log"
	}
	return "the log is empty"
}

// checkExpected compares an intact log with the expected facts.
func (v verified) checkExpected(in verifyOptions) error {
	switch {
	case v.Entries == 0:
		return v.newFailure("%s", describeEmptyLog(v.Cut)).WithHint(hintLog)
	case !v.Closed && !in.running:
		out := v.newFailure(
			"the log has no end: entries after line %d may have been cut off (head %s)", v.Entries,
			v.Head)
		out.Hint = "add --running if the session still runs, or its proxy was killed"
		return out
	case in.head != "" && v.Since == nil:
		return v.newFailure(
			"no entry has the hash %s: the log was rewritten, or cut off before that entry; "+
				"its head is %s", in.head, v.Head)
	case in.head != "" && *v.Since > 0 && !in.running:
		return v.newFailure(
			"%s after the one with the hash %s: it was not the last; the head is %s",
			plural(*v.Since, "entry comes", "entries come"), in.head, v.Head)
	}
	return nil
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func (v verified) reportLines() []string {
	chain := "intact"
	if v.Lost > 0 {
		chain = "intact except for a gap"
	}
	lines := []string{fmt.Sprintf("%s: %d entries, %s; head %s", v.File, v.Entries, chain, v.Head)}
	if v.Since != nil {
		lines = append(lines,
			"the given head is in it, "+plural(*v.Since, "entry", "entries")+" before the end")
	}
	lines = append(lines, v.gapNotes()...)
	switch v.Cast {
	case "same":
		match := "the recording matches the log"
		if v.Gaps > 0 {
			match += ", except for the missing output"
		}
		lines = append(lines, match)
	case "missing":
		lines = append(lines, "note: the recording does not exist")
	}
	return lines
}

// gapNotes describes gaps in the log or the recording.
func (v verified) gapNotes() (lines []string) {
	if v.Lost > 0 {
		lines = append(lines,
			"note: the disk could not store "+plural(int(v.Lost), "entry", "entries")+
				"; audit show says where")
	}
	if v.Gaps > 0 {
		note := fmt.Sprintf("note: output is missing in the recording at %s: %s",
			plural(v.Gaps, "place", "places"), plural(int(v.Missing), "byte", "bytes"))
		if v.Open {
			note += ", and an unknown number at its end"
		}
		lines = append(lines, note+"; audit show says where")
	}
	if v.Cut {
		lines = append(
			lines,
			fmt.Sprintf(
				"note: line %d is cut off, as when the proxy or the machine stops while writing it",
				v.Entries+1))
	}
	if !v.Closed {
		lines = append(lines,
			"note: the log has no end: the session is still running, or its proxy was killed")
	}
	return lines
}
