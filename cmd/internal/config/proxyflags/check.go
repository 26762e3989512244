package proxyflags

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/cli/terminals"
	"terminalproxy/cmd/internal/hooks/notify"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/terminal/keys"
)

// StatusUsage is the exit status after an error in the flags or the configuration.
const StatusUsage = 2

// UsageError returns an error in the user's flags or configuration.
func UsageError(hint, format string, args ...any) error {
	return &proxy.UserError{Status: StatusUsage, Say: fmt.Sprintf(format, args...), Hint: hint}
}

// CheckRanges refuses values that are out of range.
func (f *Flags) CheckRanges(set *pflag.FlagSet) error {
	switch {
	case f.Grant != "" && f.Grant != string(protocol.LevelType) &&
		f.Grant != string(protocol.LevelDrive):
		return UsageError("type lets the agent write text, drive lets it press every key",
			"--grant %q: must be type or drive", f.Grant)
	case f.Lasts < 0:
		return UsageError("use a duration such as 90s or 10m", "--for %s: must not be negative",
			f.Lasts)
	case f.Yield < 0 || f.Yield > time.Hour:
		return UsageError("use a duration such as 1s", "--yield %s: must be 0s to 1h", f.Yield)
	case f.NotifyAfter < 0 || f.NotifyAfter > time.Hour:
		return UsageError("use a duration such as 10s", "--notify-after %s: must be 0s to 1h",
			f.NotifyAfter)
	case f.Interval < 10*time.Millisecond || f.Interval > time.Minute:
		return UsageError("use a duration such as 500ms",
			"--snapshot-interval %s: must be 10ms to 1m", f.Interval)
	case set.Changed("cols") && (f.Cols < 1 || f.Cols > protocol.MaxSize):
		return UsageError("", "--cols %d: must be 1 to %d", f.Cols, protocol.MaxSize)
	case set.Changed("rows") && (f.Rows < 1 || f.Rows > protocol.MaxSize):
		return UsageError("", "--rows %d: must be 1 to %d", f.Rows, protocol.MaxSize)
	case len(f.Name) > protocol.MaxName ||
		strings.ContainsFunc(f.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return UsageError("", "--name: must be at most %d bytes, without control characters",
			protocol.MaxName)
	}
	return nil
}

// KeyBindings returns the keys that the user names, or else those that arrive in this terminal.
func (f *Flags) KeyBindings() (b keys.Bindings, err error) {
	if b.Reclaim, err = keys.ParseReclaimKey(f.ReclaimKey); err != nil {
		return b, UsageError("", "--reclaim-key: %v", err)
	}
	if f.GrantKey == "" {
		b.Grant = terminals.Find(os.Getenv).GrantKey(b.Reclaim)
		return b, nil
	}
	if b.Grant, err = keys.ParseGrantKey(f.GrantKey); err != nil {
		return b, UsageError("", "--grant-key: %v", err)
	}
	if b.Grant == b.Reclaim {
		return b, UsageError("choose another one, such as ctrl-g, or another --reclaim-key",
			"--grant-key: %s takes the keyboard back already", b.Grant)
	}
	return b, nil
}

// ParseLogLevel parses --log-level.
func (f *Flags) ParseLogLevel() (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		return 0, UsageError("use debug, info, warn or error", "--log-level %q: unknown level",
			f.LogLevel)
	}
	return level, nil
}

// These values of --notify are no URLs.
const (
	notifyTerminal = "terminal"
	notifyOff      = "off"
)

// Notifications says where the user is told that an agent waits.
type Notifications struct {
	Off      bool
	Terminal bool // also through terminals of unknown abilities
	Targets  []notify.Target
}

// ParseNotify parses --notify.
func (f *Flags) ParseNotify() (n Notifications, err error) {
	for _, to := range f.Notify {
		switch to {
		case notifyTerminal:
			n.Terminal = true
		case notifyOff:
			n.Off = true
		default:
			target, err := notify.Parse(to)
			if err != nil {
				return n, UsageError("or write terminal, or off", "--notify: %v", err)
			}
			n.Targets = append(n.Targets, target)
		}
	}
	if n.Off && len(f.Notify) > 1 {
		return n, UsageError("leave one of them out", "--notify off: there is another --notify")
	}
	return n, nil
}
