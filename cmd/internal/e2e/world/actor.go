package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// actor plays the coding agent that its first argument names. After the prompt "work" it works for
// ever; after "leave" it asks for permission to create the file made-never; after "ask" it asks a
// question. If an answer allows it, it creates the file. It never ends a turn.
func actor(args []string) error {
	switch name, rest := args[0], args[1:]; {
	case name == "behind": // an adapter that ignores its input
		time.Sleep(time.Hour)
		return nil
	case name == "claude" && slices.Contains(rest, "stream-json"):
		return actLine(playStreamJSON, true)
	case name == "claude":
		return actClaude(rest)
	case name == "adapter":
		if err := exec.CommandContext(context.Background(), "actor", "behind").Start(); err != nil {
			return err
		}
		return actLine(playACP, true)
	case name == "gemini": // it keeps running after its input ends
		return actLine(playACP, false)
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	return actLine(playACP, false)
}

// actAllowed does the thing that the agent asked permission for.
func actAllowed() { _ = os.WriteFile("made-never", nil, 0o600) }

// line is a message of either protocol.
type line struct {
	ID        json.RawMessage `json:"id"`
	Method    string          `json:"method"`
	Result    json.RawMessage `json:"result"`
	Type      string          `json:"type"`
	UUID      string          `json:"uuid"`
	RequestID string          `json:"request_id"`
	Params    struct {
		Prompt []struct{ Text string } `json:"prompt"`
	} `json:"params"`
	Message  struct{ Content string }                     `json:"message"`
	Request  struct{ Subtype string }                     `json:"request"`
	Response struct{ Response struct{ Behavior string } } `json:"response"`
}

// actLine plays an agent that reads lines. If exitsAtEnd is set, the agent exits when its input ends.
func actLine(play func(m line), exitsAtEnd bool) error {
	in := json.NewDecoder(os.Stdin)
	for {
		var m line
		if err := in.Decode(&m); err != nil && exitsAtEnd {
			return nil // the end of its input
		} else if err != nil {
			time.Sleep(time.Hour) // select {} is a deadlock where cgo is off
		}
		play(m)
	}
}

func playStreamJSON(m line) {
	ask := func(tool, input string) {
		fmt.Printf(`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":%q,"input":%s}}`+"\n", tool, input)
	}
	switch {
	case m.Type == "control_request":
		fmt.Printf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`+"\n", m.RequestID)
	case m.Type == "control_response" && m.Response.Response.Behavior == "allow":
		actAllowed()
	case m.Type == "user":
		fmt.Printf(`{"type":"command_lifecycle","command_uuid":%q,"state":"started"}`+"\n", m.UUID)
		fmt.Println(`{"type":"system","subtype":"init"}`)
		switch m.Message.Content {
		case "leave":
			ask("Bash", `{"command":"touch made-never"}`)
		case "ask":
			ask("AskUserQuestion", actQuestion)
		}
	}
}

const actQuestion = `{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]}]}`

func playACP(m line) {
	answer := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result) }
	switch {
	case m.Method == "initialize":
		answer(`{"protocolVersion":1}`)
	case m.Method == "session/new":
		answer(fmt.Sprintf(`{"sessionId":"s-%d"}`, os.Getpid()))
	case m.Method == "session/prompt" && m.Params.Prompt[0].Text == "leave":
		fmt.Printf(`{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s-%d","toolCall":{"toolCallId":"t","rawInput":{"command":"touch made-never"}},`+
			`"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}`+"\n", os.Getpid())
	case m.Method == "session/prompt" && m.Params.Prompt[0].Text == "ask":
		fmt.Printf(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"sessionId":"s-%d","mode":"form","message":"Which colour?",`+
			`"requestedSchema":{"type":"object","properties":{"colour":{"type":"string","title":"Which colour?"}}}}}`+"\n", os.Getpid())
	case m.Method == "session/prompt":
		fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-%d","update":{"sessionUpdate":"plan"}}}`+"\n", os.Getpid())
	case m.Method != "" && m.ID != nil:
		answer("{}")
	case bytes.Contains(m.Result, []byte("yes")), bytes.Contains(m.Result, []byte("accept")):
		actAllowed()
	}
}

// typedWords passes on each line typed at a terminal, and each Escape, without the paste marks.
func typedWords(draw func(typed string), enter func(line string)) error {
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	fmt.Print("\x1b[?2004h")
	typed, buf := "", make([]byte, 4096)
	for {
		draw(typed)
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return err
		}
		typed += strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "").Replace(string(buf[:n]))
		if before, _, entered := strings.Cut(typed, "\r"); entered {
			typed = ""
			enter(before)
		}
	}
}

// actClaude plays Claude Code in its own interface.
func actClaude(args []string) error {
	var settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err := json.Unmarshal([]byte(args[slices.Index(args, "--settings")+1]), &settings); err != nil {
		return err
	}
	hook := func(event, more string) (said []byte) {
		cmd := exec.CommandContext(context.Background(), "sh", "-c", settings.Hooks[event][0].Hooks[0].Command)
		cmd.Stdin = strings.NewReader(`{"session_id":"` + args[slices.Index(args, "--session-id")+1] + `","transcript_path":"/nowhere","permission_mode":"default"` + more + "}")
		said, _ = cmd.Output() // a failing hook says nothing
		return said
	}
	hook("SessionStart", `,"source":"startup"`)
	dialog := ""
	wants := func(tool, input, shown string) {
		call := fmt.Sprintf(`,"tool_name":%q,"tool_input":%s,"tool_use_id":"t1"`, tool, input)
		hook("PreToolUse", call)
		dialog = shown
		go func() { // if the hook is killed, the dialog stays
			if bytes.Contains(hook("PermissionRequest", call), []byte(`"behavior":"allow"`)) {
				actAllowed()
			}
		}()
	}
	rule := strings.Repeat("─", 40)
	return typedWords(func(typed string) {
		fmt.Print("\x1b[2J\x1b[H", strings.Join([]string{rule, "❯ " + typed, rule}, "\r\n"), "\x1b[2;3H")
		if dialog != "" {
			fmt.Print("\x1b[2J\x1b[H", dialog, "\r\n\r\n ❯ 1. Yes\r\n   2. No\r\n\r\n Esc to cancel")
		}
	}, func(line string) {
		said, _ := json.Marshal(line) // a string
		hook("UserPromptSubmit", `,"prompt":`+string(said))
		switch line {
		case "leave":
			wants("Bash", `{"command":"touch made-never"}`, "touch made-never\r\nDo you want to proceed?")
		case "ask":
			wants("AskUserQuestion", actQuestion, "Which colour?")
		}
	})
}
