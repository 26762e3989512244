package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// What Claude Code 2.1.329 writes into each request, without and with tasks.
const (
	plainMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1.329"},"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{}}}`
	tasksMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1.329"},"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"progressToken":1}`
)

// taskClient speaks to a server whose calls become tasks at once, or never if patient.
type taskClient struct {
	*lineClient
	t      *testing.T
	server *Server
	id     int

	mu  sync.Mutex
	now time.Time
}

func dialTasks(t *testing.T, f *fake, patient bool) *taskClient {
	t.Helper()
	c := &taskClient{t: t, now: clock}
	after := time.Nanosecond
	if patient {
		after = time.Hour
	}
	c.server = New(Config{
		Terminals: f, TaskAfter: after, Version: "test", Mark: func() string { return "m4rk" },
		Now: func() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now },
	})
	c.lineClient = dialServer(t, c.server)
	return c
}

func (c *taskClient) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// ask sends a request and returns the answer, without the server's name and the id of its task.
func (c *taskClient) ask(method, params, meta string) (answer, taskID string) {
	c.t.Helper()
	c.id++
	if params != "" {
		params += ","
	}
	c.send(c.t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`+"\n", c.id, method, params, meta))
	got := c.next(c.t)
	require.InEpsilon(c.t, c.id, got["id"], 0)
	body := got["result"]
	if body == nil {
		body = got["error"]
	}
	if m, ok := body.(map[string]any); ok {
		delete(m, "_meta")
		taskID, _ = m["taskId"].(string)
		if taskID != "" {
			m["taskId"] = "T"
		}
	}
	out, err := json.Marshal(body)
	require.NoError(c.t, err)
	return string(out), taskID
}

func (c *taskClient) call(tool, arguments string) (answer, taskID string) {
	c.t.Helper()
	return c.ask("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments), tasksMeta)
}

func (c *taskClient) poll(method, id string) string {
	c.t.Helper()
	answer, _ := c.ask(method, fmt.Sprintf(`"taskId":%q`, id), tasksMeta)
	return answer
}

// await polls until the task has ended.
func (c *taskClient) await(id string) string {
	c.t.Helper()
	for {
		if got := c.poll("tasks/get", id); !strings.Contains(got, `"status":"working"`) {
			return got
		}
		time.Sleep(time.Millisecond)
	}
}

// holds makes every wait last until open is closed, and counts those that began.
func holds(f *fake) (open chan struct{}, began *atomic.Int32) {
	open, began = make(chan struct{}), new(atomic.Int32)
	f.wait = func(ctx context.Context, _ *protocol.Wait) (*protocol.WaitResult, error) {
		began.Add(1)
		select {
		case <-open:
			return &protocol.WaitResult{Met: true, Frame: &f.frame}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return open, began
}

const waitForDone = `{"for":"text","value":"done"}`

func TestALongWaitIsATask(t *testing.T) {
	f := newFake()
	open, began := holds(f)
	c := dialTasks(t, f, false)
	got, _ := c.ask("server/discover", "", tasksMeta)
	require.Contains(t, got, `"extensions":{"io.modelcontextprotocol/tasks":{}}`)
	require.Contains(t, got, "for a call that may become a task 3600000 by default, at most 86400000")

	got, id := c.call("terminal_wait", waitForDone)
	require.JSONEq(t, `{"resultType":"task","taskId":"T","status":"working","createdAt":"2027-01-15T08:00:00Z","lastUpdatedAt":"2027-01-15T08:00:00Z","ttlMs":87000000,"pollIntervalMs":1000}`,
		strings.Replace(got, `"statusMessage":"waiting for text",`, "", 1))
	require.Greater(t, len(id), 25, "an id that can be guessed")
	require.Eventually(t, func() bool { return began.Load() == 1 }, time.Minute, time.Millisecond)
	asked := len(f.said)
	c.pass(time.Minute)
	for range 100 {
		require.JSONEq(t, `{"resultType":"complete","taskId":"T","status":"working","statusMessage":"waiting for text","createdAt":"2027-01-15T08:00:00Z","lastUpdatedAt":"2027-01-15T08:00:00Z","ttlMs":87000000,"pollIntervalMs":3000}`, c.poll("tasks/get", id))
	}
	require.Len(t, f.said, asked, "a poll is no work for a terminal")
	require.JSONEq(t, `{"resultType":"complete"}`, c.poll("tasks/update", id))

	close(open)
	for range 2 { // it may be fetched twice
		require.JSONEq(t, `{"resultType":"complete","taskId":"T","status":"completed","createdAt":"2027-01-15T08:00:00Z","lastUpdatedAt":"2027-01-15T08:01:00Z","ttlMs":660000,"pollIntervalMs":3000,
			"result":{"resultType":"complete","content":[{"type":"text","text":"matched\nvim-k3f9 rev 412 cursor 2,4 running \"vim notes.txt\" 40x6 alt-screen keyboard: user\n<<<m4rk untrusted\nmilk\neggs\n~\n~\n~\n\"notes.txt\" 2L, 10B\nm4rk>>>"}]}}`, c.await(id))
	}
	require.JSONEq(t, `{"resultType":"complete"}`, c.poll("tasks/cancel", id), "it has ended, and stays so")
	require.Contains(t, c.poll("tasks/get", id), `"status":"completed"`)
	c.pass(taskKept)
	require.Contains(t, c.poll("tasks/get", id), `"code":-32602`)
}

func TestAShortWaitIsAnsweredAtOnce(t *testing.T) {
	c := dialTasks(t, newFake(), true)
	withTasks, id := c.call("terminal_wait", waitForDone)
	require.Empty(t, id)
	require.Contains(t, withTasks, `"text":"matched\n`)
	without, _ := dialTasks(t, newFake(), true).ask("tools/call", `"name":"terminal_wait","arguments":`+waitForDone, plainMeta)
	require.Equal(t, without, withTasks)
	require.Empty(t, c.server.tasks.byID)
}

// A client that does not offer tasks in a request sees a server without tasks.
func TestTasksAreForClientsThatOfferThem(t *testing.T) {
	f := newFake()
	c := dialTasks(t, f, false)
	got, _ := c.ask("server/discover", "", plainMeta)
	require.NotContains(t, got, "extensions")
	got, _ = c.ask("tools/list", "", plainMeta)
	require.NotContains(t, got, "task")
	require.Contains(t, got, "run gateway wait in your own background shell")
	withTasks, _ := c.ask("tools/list", "", tasksMeta)
	require.Contains(t, withTasks, "becomes a task")
	require.NotContains(t, withTasks, "background shell")
	got, id := c.ask("tools/call", `"name":"terminal_wait","arguments":`+waitForDone, plainMeta)
	require.Empty(t, id)
	require.Contains(t, got, "matched")
	got, _ = c.ask("tools/call", `"name":"terminal_wait","arguments":{"for":"idle","timeout_ms":240001}`, plainMeta)
	require.Contains(t, got, "the limit is 240000")
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		got, _ = c.ask(method, `"taskId":"T"`, plainMeta)
		require.Contains(t, got, `"code":-32021`)
		require.Contains(t, got, `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	}

	older := dialTasks(t, f, false)
	got, _ = older.ask("initialize", `"protocolVersion":"2025-11-25","capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}},"tasks":{}},"clientInfo":{"name":"x","version":"1"}`, `"_meta":{}`)
	require.NotContains(t, got, "tasks")
	got, _ = older.ask("tools/call", `"name":"terminal_wait","arguments":`+waitForDone, `"_meta":{}`)
	require.Contains(t, got, "matched")
	got, _ = older.ask("tasks/get", `"taskId":"T"`, `"_meta":{}`)
	require.Contains(t, got, `"code":-32601`)
}

// asks makes every request for control last until decide is called or its call ends.
func asks(f *fake) (asked chan struct{}, ended chan error, decide func(*protocol.ControlGrant)) {
	asked, ended = make(chan struct{}), make(chan error, 1)
	grants := make(chan *protocol.ControlGrant)
	f.request = func(ctx context.Context, _ *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
		close(asked)
		select {
		case g := <-grants:
			return g, nil, nil
		case <-ctx.Done():
			ended <- context.Cause(ctx)
			return nil, nil, context.Cause(ctx)
		}
	}
	return asked, ended, func(g *protocol.ControlGrant) { grants <- g }
}

const askToType = `{"reason":"to fix the typo"}`

func TestACancelledTaskWithdrawsItsQuestion(t *testing.T) {
	for name, end := range map[string]func(*taskClient, string){
		"cancelled":         func(c *taskClient, id string) { c.poll("tasks/cancel", id) },
		"the client leaves": func(c *taskClient, _ string) { require.NoError(c.t, c.in.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			asked, ended, _ := asks(f)
			c := dialTasks(t, f, false)
			_, id := c.call("terminal_request_control", askToType)
			<-asked
			end(c, id)
			why := <-ended
			require.ErrorIs(t, why, context.Canceled, "a deadline would leave the question open")
			if name == "cancelled" {
				require.Contains(t, c.await(id), `"status":"cancelled"`)
			}
		})
	}
}

// The user answers in the moment in which the task is cancelled: the agent would not know of its
// grant.
func TestAGrantOfACancelledTaskIsGivenBack(t *testing.T) {
	f := newFake()
	asked := make(chan struct{})
	f.request = func(ctx context.Context, _ *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
		close(asked)
		<-ctx.Done()
		return &protocol.ControlGrant{AgentID: "a-1", Level: protocol.LevelDrive, Epoch: 3}, nil, nil
	}
	c := dialTasks(t, f, false)
	_, id := c.call("terminal_request_control", askToType)
	<-asked
	c.poll("tasks/cancel", id)
	require.Contains(t, c.await(id), `"status":"cancelled"`)
	require.Contains(t, strings.Join(f.said, "\n"), "release vim-k3f9")
}

// How a wait ends is its result: the task has done what it was asked for.
func TestTaskTellsHowItsWaitEnded(t *testing.T) {
	two := 2
	for _, tt := range []struct {
		name string
		got  protocol.WaitResult
		err  error
		want []string
	}{
		{"the user takes the keyboard back", protocol.WaitResult{Ended: protocol.ReasonReclaimed}, nil, []string{"no match: the user took the keyboard back; look before anything else"}},
		{"the program ends", protocol.WaitResult{ExitCode: &two}, nil, []string{"no match: the program ended first", "exited 2"}},
		{"the user writes", protocol.WaitResult{Notes: []string{"not now"}}, nil, []string{"no match so far: the user wrote to you", "not now"}},
		{"a pattern stops it", protocol.WaitResult{Stopped: true}, nil, []string{"stop: "}},
		{"no gateway", protocol.WaitResult{}, errGone, []string{"error: no gateway answers", `"isError":true`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			f.frame.Keyboard = protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: "a-1", AgentName: "claude-code", Level: protocol.LevelDrive, Epoch: 3}
			f.sessions[0].Keyboard = f.frame.Keyboard
			epoch, open, turns := make(chan uint64, 3), make(chan struct{}), 0
			f.wait = func(_ context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
				<-open
				epoch <- m.Epoch
				got := protocol.WaitResult{Frame: &f.frame}
				if turns++; turns == 3 {
					got = tt.got
					got.Frame = &f.frame
					return &got, tt.err
				}
				return &got, nil // the proxy's limit
			}
			c := dialTasks(t, f, false)
			_, id := c.call("terminal_request_control", askToType) // it learns its id
			if id != "" {
				c.await(id)
			}
			_, id = c.call("terminal_wait", waitForDone)
			close(open)
			got := c.await(id)
			require.Contains(t, got, `"status":"completed"`)
			for _, want := range tt.want {
				require.Contains(t, got, want)
			}
			for range 3 {
				require.EqualValues(t, 3, <-epoch)
			}
		})
	}
}

func TestTasksAreBounded(t *testing.T) {
	f := newFake()
	open, _ := holds(f)
	c := dialTasks(t, f, false)
	var ids []string
	for n := range maxTasks + 2 {
		got, id := c.call("terminal_wait", waitForDone)
		if n < maxTasks {
			require.NotEmpty(t, id)
			ids = append(ids, id)
			continue
		}
		require.Empty(t, id)
		require.Contains(t, got, "64 of your calls are waiting as tasks already: stop one of them, or wait until one ends, then call again")
	}
	c.poll("tasks/cancel", ids[0])
	c.await(ids[0])
	_, id := c.call("terminal_wait", waitForDone)
	require.NotEmpty(t, id)
	close(open)
	for _, id := range ids[1:] {
		require.Contains(t, c.await(id), "matched")
	}
	c.await(id)
	for range 2 * maxTasks { // results make room for new ones
		if _, id = c.call("terminal_wait", waitForDone); id != "" {
			c.await(id)
		}
	}
	c.server.tasks.mu.Lock()
	defer c.server.tasks.mu.Unlock()
	require.LessOrEqual(t, len(c.server.tasks.byID), maxTasks)
}

func TestATaskBelongsToItsConnection(t *testing.T) {
	f := newFake()
	holds(f)
	one, other := dialTasks(t, f, false), dialTasks(t, f, false)
	_, id := one.call("terminal_wait", waitForDone)
	for _, id := range []string{id, "", "T", id[:len(id)-1], id + "a", strings.ToUpper(id)} {
		for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
			require.Contains(t, other.poll(method, id), "no such task")
		}
	}
	require.Contains(t, one.poll("tasks/get", id), "working")
}

// An answer that no poll fetched is not known to the agent: the next one says all.
func TestAnUnreadResultIsNotKnown(t *testing.T) {
	f := newFake()
	c := dialTasks(t, f, false)
	read := func() string {
		got, _ := c.call("terminal_read", `{}`)
		return got
	}
	require.Contains(t, read(), "alt-screen")
	open, _ := holds(f)
	_, id := c.call("terminal_wait", waitForDone)
	close(open)
	require.Eventually(t, func() bool {
		c.server.tasks.mu.Lock()
		defer c.server.tasks.mu.Unlock()
		return c.server.tasks.byID[id].status == taskCompleted
	}, time.Minute, time.Millisecond)
	c.server.tools.answers.mu.Lock()
	require.NotEmpty(t, c.server.tools.answers.known)
	c.server.tools.answers.mu.Unlock()
	c.pass(taskKept)
	require.Contains(t, c.poll("tasks/get", id), "no such task")
	c.server.tools.answers.mu.Lock()
	defer c.server.tools.answers.mu.Unlock()
	require.Empty(t, c.server.tools.answers.known)
}

// Over HTTP a task runs between two requests, and keeps its agent connected meanwhile.
func TestATaskOverHTTP(t *testing.T) {
	f := newFake()
	open, _ := holds(f)
	var held atomic.Int32
	h, s := overHTTP(t, f)
	h.server.tasks.after = time.Nanosecond
	h.server.tasks.hold = func() func() { held.Add(1); return func() { held.Add(-1) } }
	ask := func(method, params string) map[string]any {
		resp := post(t, s, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, method, params, tasksMeta),
			"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: "+method, "Mcp-Name: terminal_wait")
		defer resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode)
		var got struct{ Result map[string]any }
		require.NoError(t, json.NewDecoder(eventData(resp.Body)).Decode(&got))
		return got.Result
	}
	created := ask("tools/call", `"name":"terminal_wait","arguments":`+waitForDone)
	require.Equal(t, "task", created["resultType"])
	id := fmt.Sprintf(`"taskId":%q`, created["taskId"])
	require.Equal(t, "working", ask("tasks/get", id)["status"])
	require.EqualValues(t, 1, held.Load())
	close(open)
	require.Eventually(t, func() bool { return ask("tasks/get", id)["status"] == "completed" }, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool { return held.Load() == 0 }, time.Minute, time.Millisecond)

	holds(f)
	require.Equal(t, "task", ask("tools/call", `"name":"terminal_wait","arguments":`+waitForDone)["resultType"])
	h.Close() // its agent is gone
	require.Eventually(t, func() bool { return held.Load() == 0 }, time.Minute, time.Millisecond)
}
