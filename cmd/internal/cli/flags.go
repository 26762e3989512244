package cli

import (
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// ImageFlag names the flag for pictures that go with a prompt.
const ImageFlag = "image"

// OutFlag names the file of one new token, so a configuration cannot set it.
const OutFlag = "out"

// AsHelp is the help of --as.
const AsHelp = "act as agent `NAME`, which the user sees; each name is a separate agent"

// CheckGrant checks the flags --level and --for.
func CheckGrant(level string, forTime time.Duration) error {
	switch {
	case level != string(protocol.LevelDrive) && level != string(protocol.LevelType):
		return Usage("--level %.20q: must be drive or type", level)
	case forTime != 0 && (forTime < time.Second || forTime > 24*time.Hour):
		return Usage("--for %s: must be 1s to 24h", forTime)
	}
	return nil
}

// Sentence returns a flag's text for the user on one line, without invisible characters.
func Sentence(flag, reason string) (string, error) {
	reason, err := text.Sentence("--"+flag, reason)
	if err != nil {
		return "", Usage("%w", err)
	}
	return reason, nil
}

// CheckTimeout checks the flag --timeout.
func CheckTimeout(d time.Duration) error {
	if d < time.Millisecond || d > protocol.MaxTimeoutMs*time.Millisecond {
		return Usage("--timeout %s: must be 1ms to %dh", d, protocol.MaxTimeoutMs/3_600_000)
	}
	return nil
}
