package world

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/local"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/link"
)

// talker is a proxy whose program has the conversation of a scripted coding agent. The agent
// repeats its prompt, and asks to run make when told to ask. talker's arguments are the file to
// record to, or "", and the program.
func talker(args []string) error {
	agent := &scripted{work: make(chan func(), 16), gone: make(chan struct{})}
	conf, end, err := agent.config(args)
	if err != nil {
		return err
	}
	defer end()
	_, err = proxy.Run(context.Background(), conf)
	return err
}

func (a *scripted) config(args []string) (conf proxy.Config, end func(), err error) {
	at, err := endpoint.Parse(os.Getenv("PROXY_GATEWAY"))
	if err != nil {
		return conf, nil, err
	}
	if file := os.Getenv("PROXY_TOKEN_FILE"); file != "" {
		if at.Token, err = auth.ReadTokenFile(file); err != nil {
			return conf, nil, err
		}
	}
	agent := &proxy.AgentConfig{
		Dial: at.DialContext, URL: at.URL(protocol.PathProxy), Header: at.Header(), Owner: auth.VerifyOwnSigner,
		Chat: &proxy.Chat{Session: chat.New("scripted", a)},
	}
	end = func() {}
	if at.Local() {
		dir, err := userdirs.Runtime()
		if err != nil {
			return conf, nil, err
		}
		own := local.New(dir, nil)
		agent.Dial, end = own.Dial, func() { _ = own.Close() }
		agent.Join = func() (link.Seat, error) {
			if seat, err := own.JoinInProcess(); seat != nil || err != nil {
				return seat, err
			}
			return nil, nil //nolint:nilnil // another process serves
		}
	}
	return proxy.Config{Command: args[1], Args: args[2:], In: os.Stdin, Out: os.Stdout, Record: args[0], Agent: agent}, end, nil
}

// scripted is the coding agent.
type scripted struct {
	report func(chat.Event)
	work   chan func() // its own goroutine reports
	gone   chan struct{}
	asked  int
}

func (a *scripted) Start(report func(chat.Event)) error {
	a.report = report
	go func() { // ends with Close
		defer close(a.gone)
		for do := range a.work {
			do()
		}
		report(chat.AgentExited{})
	}()
	a.work <- func() { report(chat.Ready{Conversation: "c1"}) }
	return nil
}

func (a *scripted) Send(p chat.Prompt) error {
	a.work <- func() {
		a.report(chat.PromptAccepted{Prompt: p.ID})
		if p.Text != "ask" {
			a.says("you said: " + p.Text)
			return
		}
		a.asked++
		input, _ := json.Marshal(map[string]string{"command": "make test"}) // marshalling strings never fails
		a.report(chat.RequestOpened{Request: chat.Request{
			ID: fmt.Sprintf("t%d", a.asked), Tool: "Bash", Input: input, Allows: []chat.Choice{{Verdict: chat.Once}},
		}})
	}
	return nil
}

func (a *scripted) says(text string) {
	a.report(chat.ItemAdded{Item: chat.Item{Kind: chat.Text, Text: text}})
	a.report(chat.Finished{Turn: chat.Turn{Outcome: chat.Done}})
}

func (a *scripted) Answer(id string, answer chat.Answer) error {
	a.work <- func() {
		if answer.Verdict == chat.Once {
			a.says(id + " ran")
		} else {
			a.says(id + " did not run " + answer.Words)
		}
	}
	return nil
}

func (a *scripted) Interrupt(chat.MayAct) error { return nil }

func (a *scripted) Close() error {
	close(a.work)
	<-a.gone
	return nil
}
