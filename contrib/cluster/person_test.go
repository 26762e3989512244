package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/contrib/cluster/rig"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
)

// inputTime is how long an input may take, with all that its gateways and its session go through.
const inputTime = 20 * time.Second

// person has a session at one gateway and an agent that types into it from another.
type person struct {
	s        *soak
	number   int
	agent    *client.Client
	terminal *rig.Terminal
	sessions int // that were begun

	mu    sync.Mutex
	id    string
	epoch uint64 // of the agent's grant, 0 for none
	words []word
}

// word is what was typed, with its receipt.
type word struct {
	text    string
	session string
	receipt *protocol.InputResult // nil: its fate is not known
}

// begins starts a session that writes down what it reads.
func (p *person) begins() {
	s := p.s
	p.sessions++
	name := fmt.Sprintf("p%d.%d", p.number, p.sessions)
	cmd := s.rig.Command(s.ctx, "proxy", "--agent", "--allow-remote-grant", "--name", name, "--log", p.log(name), "--gateway", s.rig.URLs(p.number),
		"--token-file", s.tokens["proxy"], "sh", "-c", "stty raw -echo; exec tee -a "+p.ledger(name))
	terminal, err := rig.NewTerminal(cmd)
	require.NoError(s.t, err)
	s.t.Cleanup(terminal.Close)
	viewer, err := rig.NewClient(s.rig.URLs(p.number), s.tokens["viewer"], protocol.PathView, "", "")
	require.NoError(s.t, err)
	defer func() { _ = viewer.Close() }()
	id := ""
	require.Eventually(s.t, func() bool {
		ctx, stop := context.WithTimeout(s.ctx, limit)
		defer stop()
		list, _ := viewer.Sessions(ctx)
		for _, one := range list {
			if one.Name == name && one.State == protocol.StateRunning {
				id = one.SessionID
			}
		}
		return id != ""
	}, limit, 20*time.Millisecond, "no session %s", name)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.terminal, p.id, p.epoch = terminal, id, 0
}

func (p *person) name() string            { return fmt.Sprintf("p%d.%d", p.number, p.sessions) }
func (p *person) ledger(of string) string { return filepath.Join(p.s.rig.Dir, of+".ledger") }
func (p *person) log(of string) string    { return filepath.Join(p.s.rig.Dir, of+".proxy.log") }

// dies ends the session without a word.
func (p *person) dies() { p.terminal.Kill() }

// losses is how many connections the proxy has lost.
func (p *person) losses() int {
	text, _ := os.ReadFile(p.log(p.name()))
	return strings.Count(string(text), "the link to the gateway ended")
}

func (p *person) granted() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.epoch
}

// types has the agent type words, each once, until over. Without a grant it asks for one.
func (p *person) types(over <-chan struct{}) {
	for n := 0; ; {
		select {
		case <-over:
			return
		case <-time.After(20 * time.Millisecond):
		}
		p.mu.Lock()
		id, epoch := p.id, p.epoch
		p.mu.Unlock()
		if epoch == 0 {
			p.asks(id)
			continue
		}
		n++
		p.say(word{text: fmt.Sprintf("[%d.%d]", p.number, n), session: id}, epoch)
	}
}

// asks asks for the keyboard, which the owner gives.
func (p *person) asks(id string) {
	ctx, stop := context.WithTimeout(p.s.ctx, inputTime)
	defer stop()
	grant, _, err := p.agent.Request(ctx, &protocol.ControlRequest{SessionID: id, Level: protocol.LevelDrive, Why: "to type"})
	if err != nil || grant == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == id {
		p.epoch = grant.Epoch
	}
}

// say types a word.
func (p *person) say(w word, epoch uint64) {
	ctx, stop := context.WithTimeout(p.s.ctx, inputTime)
	defer stop()
	receipt, err := p.agent.Input(ctx, &protocol.Input{SessionID: w.session, Epoch: epoch, InputKind: protocol.InputText, Data: w.text})
	if refused, ok := err.(*protocol.Error); ok && refused.Code != protocol.CodeUnavailable && refused.Code != protocol.CodeTimeout { //nolint:errorlint // as it comes
		receipt = &protocol.InputResult{Status: protocol.StatusRefused, Reason: refused.Code, Message: refused.Message}
	}
	w.receipt = receipt
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = append(p.words, w)
	if receipt == nil || receipt.Status != protocol.StatusWritten {
		p.epoch = 0
	}
}

// compare holds the receipts against what the programs have read.
func (p *person) compare() {
	t := p.s.t
	var all string
	for i := range p.sessions {
		text, err := os.ReadFile(p.ledger(fmt.Sprintf("p%d.%d", p.number, i+1)))
		require.NoError(t, err)
		all += string(text)
	}
	require.NotContains(t, all, "STALE")
	for _, w := range p.words {
		typed := strings.Count(all, w.text)
		require.LessOrEqual(t, typed, 1, "typed twice: %s into %s", w.text, w.session)
		switch {
		case w.receipt == nil:
		case w.receipt.Status == protocol.StatusWritten && w.session == p.id: // what died may not have read it
			require.Equal(t, 1, typed, "claimed, and not typed: %s into %s: %+v", w.text, w.session, w.receipt)
		case w.receipt.WrittenBytes == 0 && w.receipt.Status == protocol.StatusRefused:
			require.Zero(t, typed, "refused, and typed: %s into %s: %+v", w.text, w.session, w.receipt)
		}
	}
}
