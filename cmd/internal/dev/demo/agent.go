package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// caller is the scripted agent: it calls tools and prints the answers.
type caller struct {
	ctx     context.Context
	session *mcp.ClientSession
}

// call is a tool call under way.
type call struct {
	tool string
	args map[string]any
	text chan string // the answer
}

// startCall calls a tool and does not wait for its answer.
func (c *caller) startCall(tool string, args map[string]any) *call {
	out := &call{tool: tool, args: args, text: make(chan string, 1)}
	go func() { // ends with the call, which has a deadline
		result, err := c.session.CallTool(c.ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			out.text <- "failed: " + err.Error()
			return
		}
		var b strings.Builder
		for _, part := range result.Content {
			if text, ok := part.(*mcp.TextContent); ok {
				b.WriteString(text.Text)
			}
		}
		out.text <- b.String()
	}()
	return out
}

// waitForText waits for the answer.
func (c *caller) waitForText(out *call) string {
	select {
	case text := <-out.text:
		return text
	case <-c.ctx.Done():
		return fmt.Sprintf("no answer within the demo's %v", limit)
	}
}

// waitForTerminal waits until the gateway knows the user's terminal, which may be on the screen
// before.
func (c *caller) waitForTerminal() {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for strings.HasPrefix(c.waitForText(c.startCall("terminal_list", nil)), "there are no terminals") {
		<-pause.C
	}
}

// printAnswer waits for the answer and prints it.
func (c *caller) printAnswer(out *call) {
	text := c.waitForText(out)
	args := make([]string, 0, len(out.args))
	for _, name := range slices.Sorted(maps.Keys(out.args)) {
		args = append(args, fmt.Sprintf("%s=%v", name, out.args[name]))
	}
	printStep("the agent calls", "%s(%s)", out.tool, strings.Join(args, ", "))
	printQuoted(text)
}

// printQuoted prints the beginning of an answer, enough for a person to recognise it.
func printQuoted(text string) {
	const rows, columns = 12, 110
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i == rows {
			fmt.Println("   ...")
			return
		}
		if all := []rune(line); len(all) > columns {
			line = string(all[:columns]) + "..."
		}
		fmt.Println("   " + line)
	}
}

func (c *caller) callAndPrint(tool string, args map[string]any) {
	c.printAnswer(c.startCall(tool, args))
}

// sendUntilRefused repeats one input until it is refused, and sends the reason.
func (c *caller) sendUntilRefused(s script) <-chan string {
	refusal := make(chan string, 1)
	input := &mcp.CallToolParams{Name: "terminal_send", Arguments: s.more}
	go func() { // ends when the user takes the keyboard back, or after maxLines calls
		for range maxLines {
			result, err := c.session.CallTool(c.ctx, input)
			switch {
			case err != nil:
				refusal <- err.Error()
				return
			case result.IsError:
				text, _ := result.Content[0].(*mcp.TextContent)
				refusal <- text.Text
				return
			}
		}
		refusal <- "nothing: it typed to its end"
	}()
	return refusal
}
