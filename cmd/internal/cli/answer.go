package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"

	"terminalproxy/gateway"
	"terminalproxy/gateway/text"
)

// PrintAnswer prints v with --json, and otherwise the lines for people.
func (env *Env) PrintAnswer(v any, lines ...string) error {
	if env.JSON {
		return env.PrintJSON(v)
	}
	return env.PrintLines(lines...)
}

// PrintTable prints rows of tab-separated cells.
func (env *Env) PrintTable(rows []string) error {
	w := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(w, strings.Join(rows, "\n"))
	return errors.Join(err, w.Flush())
}

// PrintJSON writes the answer of --json.
func (env *Env) PrintJSON(v any) error {
	enc := json.NewEncoder(env.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// PrintLines writes lines for people.
func (env *Env) PrintLines(lines ...string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(env.Out, line); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	}
	return nil
}

// PrintNotes prints what the user wrote to this agent.
func (env *Env) PrintNotes(notes []string) error {
	if len(notes) == 0 {
		return nil
	}
	return env.PrintLines(text.Messages(notes))
}

// NewLogger returns a logger that writes to standard error, or discards; done flushes it.
func (env *Env) NewLogger(on, json bool, level slog.Level) (log *slog.Logger, done func()) {
	if !on {
		return slog.New(slog.DiscardHandler), func() {}
	}
	l := gateway.NewLog(env.Err, json, level)
	return l.Logger, l.Close
}

// WriteAnswer writes to a file, or to standard output if name is -. Errors name the subject.
func WriteAnswer(env *Env, subject, name string, b []byte) error {
	if name == "-" {
		_, err := env.Out.Write(b)
		return err
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", subject, err)
	}
	return nil
}
