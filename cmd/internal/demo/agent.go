package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// caller is the scripted agent: it calls tools and prints what came back.
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

// start calls a tool and does not wait for its answer.
func (c *caller) start(tool string, args map[string]any) *call {
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

// finish waits for the answer and prints it.
func (c *caller) finish(out *call) {
	var text string
	select {
	case text = <-out.text:
	case <-c.ctx.Done():
		text = fmt.Sprintf("no answer within the demo's %v", limit)
	}
	args := make([]string, 0, len(out.args))
	for _, name := range slices.Sorted(maps.Keys(out.args)) {
		args = append(args, fmt.Sprintf("%s=%v", name, out.args[name]))
	}
	say("the agent calls", "%s(%s)", out.tool, strings.Join(args, ", "))
	quote(text)
}

// quote prints an answer, which a person wants to recognise rather than to read whole.
func quote(text string) {
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

// tell calls a tool and prints the answer.
func (c *caller) tell(tool string, args map[string]any) { c.finish(c.start(tool, args)) }

// loop sends the same over and over until it may not, and says what it was told then.
func (c *caller) loop(s script) <-chan string {
	told := make(chan string, 1)
	go func() { // ends when the user takes the keyboard back, or after most calls
		for range most {
			result, err := c.session.CallTool(c.ctx, &mcp.CallToolParams{Name: "terminal_send", Arguments: s.more})
			switch {
			case err != nil:
				told <- err.Error()
				return
			case result.IsError:
				text, _ := result.Content[0].(*mcp.TextContent)
				told <- text.Text
				return
			}
		}
		told <- "nothing: it typed to its end"
	}()
	return told
}
