package feed_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/feed"
	"terminalproxy/proxy/view/redact"
)

// secrets returns texts in which each rule of redaction finds one secret, between « and ».
func secrets(t *testing.T) (all []string) {
	t.Helper()
	read := func(name string) []string {
		data, err := os.ReadFile("../../view/redact/" + name)
		require.NoError(t, err)
		return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), "·", ""), "\n"), "\n")
	}
	for _, name := range []string{"gitleaks.txt", "byhand.txt"} {
		for _, line := range read(name) {
			f := strings.Fields(line)
			if len(f) < 4 || f[0] != "exact" && f[0] != "token" && f[0] != "weak" {
				continue
			}
			least, err := strconv.Atoi(f[3])
			require.NoError(t, err, line)
			digit := "7"
			if !strings.Contains(f[2], "0-9") && !strings.Contains(f[2], "2-7") {
				digit = "A"
			}
			all = append(all, "run «"+f[1]+strings.Repeat(digit, least)+"»")
		}
	}
	field := regexp.MustCompile(`\{([a-z]+|b64-)(\d+)\}`)
	for _, line := range append(read("testdata/secrets.txt"), read("testdata/wild.txt")...) {
		all = append(all, field.ReplaceAllStringFunc(line, func(s string) string {
			n, _ := strconv.Atoi(field.FindStringSubmatch(s)[2])
			return strings.Repeat("b7e4", n)[:n]
		}))
	}
	return append(all, `PASSWORD="«hunter2»" make`, "API_TOKEN=«x»", "curl -u ada:«x» https://example.org", "tool --password «x»", "mysql -p«x»", "password=«x»|sh",
		`curl -H "Cookie: sid=«0123456789abcdef»"`, "own rule: «anything at all»")
}

// For every rule of redaction, a command follows the secret's first characters, follows the secret,
// or replaces it. The card shows the command, or neither offers nor takes an approval.
func TestACoveredCommandIsNotAllowedUnseen(t *testing.T) {
	own, err := redact.NewOwn([]string{"own rule: (.+)"}, nil)
	require.NoError(t, err)
	everything, err := redact.NewOwn([]string{".+"}, nil)
	require.NoError(t, err)
	commands := commandsBehind(secrets(t))
	covered := 0
	for some := range slices.Chunk(commands, 200) { // a conversation has 256 open requests at most
		covered += askCovered(t, own, some)
	}
	require.Greater(t, covered, len(commands)/4)
	require.Equal(t, 100, askCovered(t, everything, commands[:100]))
}

// commandsBehind puts a command behind half of each secret, behind all of it, and in its place.
func commandsBehind(secrets []string) (commands []string) {
	hits := []string{"$(touch HIT)", ";touch HIT;", "|touch HIT|", "`touch HIT`", "\ntouch HIT\n"}
	for i, marked := range secrets {
		before, rest, _ := strings.Cut(marked, "«")
		secret, after, _ := strings.Cut(rest, "»")
		half, hit := len(secret)/2, hits[i%len(hits)]
		commands = append(commands, before+secret[:half]+hit+secret[half:]+after, before+secret+hit+after, before+hit+after)
	}
	return commands
}

// askCovered lets an agent ask for each command in a new conversation, and returns how many were
// covered.
func askCovered(t *testing.T, rules *redact.Own, commands []string) (covered int) {
	t.Helper()
	a, w := &agent{}, &wire{grown: make(chan struct{}), t: t}
	r := feed.New(feed.Config{
		SessionID: "c-1", Chat: chat.New("claude", a), Link: w, Log: slog.New(slog.DiscardHandler),
		Redact: func(text string) string { covered, _ := rules.Text(protocol.Visible(text), -1); return covered },
	})
	r.Start()
	defer r.Close()
	a.report(chat.Ready{})
	asked := map[string]string{} // commands, by the request's id
	for _, command := range commands {
		input, err := json.Marshal(map[string]string{"command": command})
		require.NoError(t, err)
		id := chat.NewID()
		asked[id] = command
		a.report(chat.RequestOpened{Request: chat.Request{
			ID: id, Tool: "Bash", Input: input, Allows: []chat.Choice{{Verdict: chat.Once}, {Verdict: chat.ForSession, Covers: command}},
		}})
	}
	r.Subscribe(0)
	w.until(t, func(records []protocol.ChatRecord, lost uint64, _ *protocol.ChatStatus) bool {
		require.Zero(t, lost)
		n := 0
		for _, c := range records {
			if c.Request == nil {
				continue
			}
			n++
			if c.Request.AtTerminal == "" {
				require.Contains(t, string(c.Request.Input), "touch HIT", "%q", asked[c.Request.ID])
			} else {
				require.Empty(t, c.Request.Allows)
			}
			for _, choice := range c.Request.Allows {
				require.True(t, choice.Covers == "" || strings.Contains(choice.Covers, "touch HIT"), choice.Covers)
			}
		}
		return n == len(asked)
	})
	for id, command := range asked {
		err := r.Answer(id, "ada", protocol.ChatReply{Verdict: protocol.ChatOnce})
		if text, _ := rules.Text(command, -1); text != command {
			require.ErrorContains(t, err, "a part of it is masked as a secret", "%q", command)
			covered++
		}
	}
	return covered
}
