package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// taskAfter is how long a call may take before its client gets a task instead of the answer. A
	// task costs the model a turn, so a short wait is answered at once.
	taskAfter = 3 * time.Second
	// taskTimeoutMs and maxTaskMs are the default and the limit of timeout_ms for a task.
	taskTimeoutMs = int64(time.Hour / time.Millisecond)
	maxTaskMs     = 24 * taskTimeoutMs
	// taskKept is how long the result of an ended task can be read.
	taskKept = 10 * time.Minute
	// taskUnread is how long a task over HTTP may go without a poll. Then it is cancelled: its
	// client is gone.
	taskUnread = 10 * time.Minute
	// maxTasks bounds the tasks that run, and the results that are kept.
	maxTasks = 64
	// pollLeast and pollMost bound the time between two polls that the server suggests.
	pollLeast = time.Second
	pollMost  = 5 * time.Second
)

// taskTools are the tools that may wait for longer than a client keeps a call open.
var taskTools = []string{"terminal_wait", "terminal_request_control"}

// taskStatus is a state of a task. Only working is followed by another one.
type taskStatus string

const (
	taskWorking   taskStatus = "working"
	taskCompleted taskStatus = "completed"
	taskFailed    taskStatus = "failed"
	taskCancelled taskStatus = "cancelled"
)

// task is a call whose answer its client fetches later. Guarded by tasks.mu, except done and the
// fields that are set at the start.
type task struct {
	all     *tasks
	id      string
	created time.Time
	cancel  context.CancelFunc
	done    chan struct{} // closed when the call has ended

	status  taskStatus
	message string
	updated time.Time
	result  mcp.Result // of taskCompleted
	failure error      // of taskFailed
	fetched bool       // the client has the result, or there is none
	reader  context.Context
	unread  *time.Timer // nil over stdio, where the end of the connection ends the task
	release func()      // ends the hold of [Config.Hold]
}

// tasks holds the tasks of one connection or, over HTTP, of one identity. An id names a task here
// alone, and is too long to be guessed.
type tasks struct {
	now   func() time.Time
	after time.Duration           // see Config.TaskAfter
	hold  func() (release func()) // see Config.Hold
	// forget is called with the context of a call whose answer its reader never fetched.
	forget func(ctx context.Context)

	mu     sync.Mutex
	closed bool
	byID   map[string]*task
	wg     sync.WaitGroup
}

func newTasks(cfg Config, forget func(context.Context)) *tasks {
	return &tasks{
		now: cfg.Now, after: cfg.TaskAfter, hold: cfg.Hold, forget: forget,
		byID: make(map[string]*task),
	}
}

type taskKey struct{}

// taskOf returns the task that a call may become, or nil.
func taskOf(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

// runAsTask answers a call of a client that supports tasks: with the tool's result if that comes
// soon, with a task otherwise.
func (ts *tasks) runAsTask(
	ctx context.Context, next mcp.MethodHandler, method string, req *mcp.CallToolRequest,
) (mcp.Result, error) {
	t, taskCtx, err := ts.startTask(ctx, req)
	if err != nil {
		text := &mcp.TextContent{Text: explain(err)}
		return &mcp.CallToolResult{Content: []mcp.Content{text}, IsError: true}, nil
	}
	go func() { // ends with the call, which cancelAll cancels
		defer t.release() // may close the server, which waits for the group
		defer ts.wg.Done()
		defer close(t.done)
		defer t.cancel()
		result, err := next(taskCtx, method, req)
		ts.endTask(taskCtx, t, result, err)
	}()
	soon := time.NewTimer(ts.after)
	defer soon.Stop()
	select {
	case <-t.done:
	case <-ctx.Done(): // the client cancelled the call before it became a task
		t.cancel()
		<-t.done
	case <-soon.C:
		if handed := ts.describeTask(t); handed.Status == taskWorking {
			return &createdTask{taskState: handed, ResultType: "task"}, nil
		}
	}
	return ts.removeTask(t)
}

// startTask creates the task that a call may become.
func (ts *tasks) startTask(
	ctx context.Context, req *mcp.CallToolRequest,
) (*task, context.Context, error) {
	now := ts.now()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.dropEndedLocked(now)
	running := 0
	for _, t := range ts.byID {
		if t.status == taskWorking {
			running++
		}
	}
	switch {
	case ts.closed:
		return nil, nil, errors.New("the gateway is closing this connection: connect again")
	case running >= maxTasks:
		return nil, nil, fmt.Errorf("%d of your calls are waiting as tasks already: stop one of "+
			"them, or wait until one ends, then call again", running)
	}
	t := &task{
		all: ts, id: strings.ToLower(rand.Text()), created: now, updated: now, status: taskWorking,
		done: make(chan struct{}), release: func() {},
	}
	// The task outlives the request, and keeps the values of the request's context.
	taskCtx, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), taskKey{}, t))
	t.cancel, t.reader = cancel, readBy(taskCtx, req)
	if ts.hold != nil {
		t.release = ts.hold()
		t.unread = time.AfterFunc(taskUnread, cancel)
	}
	ts.byID[t.id] = t
	ts.wg.Add(1)
	return t, taskCtx, nil
}

// endTask records how a task's call ended.
func (ts *tasks) endTask(ctx context.Context, t *task, result mcp.Result, err error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.updated = ts.now()
	switch {
	case err == nil:
		t.status, t.message, t.result = taskCompleted, "", result
	case ctx.Err() != nil:
		t.status, t.failure, t.fetched = taskCancelled, err, true
		t.message = "cancelled; a question to the user is withdrawn"
	default:
		t.status, t.message, t.failure = taskFailed, err.Error(), err
	}
	if t.unread != nil {
		t.unread.Stop()
	}
}

// removeTask removes a task whose call is answered at once, and returns that answer.
func (ts *tasks) removeTask(t *task) (mcp.Result, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.byID, t.id)
	if t.status == taskCompleted {
		return t.result, nil
	}
	return nil, t.failure
}

// dropEndedLocked drops ended tasks after taskKept, and more if there are too many: those that were
// fetched, then the oldest. An answer that was never fetched is unknown to its reader.
func (ts *tasks) dropEndedLocked(now time.Time) {
	var ended []*task
	for _, t := range ts.byID {
		if t.status != taskWorking {
			ended = append(ended, t)
		}
	}
	slices.SortFunc(ended, func(a, b *task) int {
		if a.fetched != b.fetched {
			return map[bool]int{true: -1, false: 1}[a.fetched]
		}
		return a.updated.Compare(b.updated)
	})
	for i, t := range ended {
		if len(ended)-i <= maxTasks && now.Sub(t.updated) < taskKept {
			continue
		}
		delete(ts.byID, t.id)
		if !t.fetched {
			ts.forget(t.reader)
		}
	}
}

// cancelAll cancels all tasks and waits for them: questions to the user are withdrawn.
func (ts *tasks) cancelAll() {
	ts.mu.Lock()
	ts.closed = true
	for _, t := range ts.byID {
		t.cancel()
	}
	ts.mu.Unlock()
	ts.wg.Wait()
}

// setMessage describes what the task waits for.
func (t *task) setMessage(message string) {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	t.message = message
}

// describeTask returns a task's state.
func (ts *tasks) describeTask(t *task) taskState {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return t.stateLocked(ts.now())
}

func (t *task) stateLocked(now time.Time) taskState {
	ttl := time.Duration(maxTaskMs)*time.Millisecond + taskKept
	if t.status != taskWorking {
		ttl = t.updated.Sub(t.created) + taskKept
	}
	poll := min(max(now.Sub(t.created)/20, pollLeast), pollMost)
	return taskState{
		TaskID: t.id, Status: t.status, StatusMessage: t.message,
		CreatedAt:     t.created.UTC().Format(time.RFC3339Nano),
		LastUpdatedAt: t.updated.UTC().Format(time.RFC3339Nano),
		TTLMs:         ttl.Milliseconds(), PollIntervalMs: poll.Milliseconds(),
	}
}

// findTaskLocked returns the task that a client names.
func (ts *tasks) findTaskLocked(id string) (*task, error) {
	ts.dropEndedLocked(ts.now())
	if t := ts.byID[id]; t != nil {
		return t, nil
	}
	return nil, &jsonrpc.Error{
		Code: jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("no such task: it was another connection's, or ended more than %.0f "+
			"minutes ago; call the tool again", taskKept.Minutes()),
	}
}

// getTask answers a poll. It reads memory only.
func (ts *tasks) getTask(_ context.Context, params *taskParams) (*polledTask, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t, err := ts.findTaskLocked(params.TaskID)
	if err != nil {
		return nil, err
	}
	out := &polledTask{taskState: t.stateLocked(ts.now()), ResultType: "complete"}
	switch t.status {
	case taskCancelled:
	case taskWorking:
		if t.unread != nil {
			t.unread.Reset(taskUnread)
		}
	case taskCompleted:
		out.Result, t.fetched = t.result, true
	case taskFailed:
		failed, ok := errors.AsType[*jsonrpc.Error](t.failure)
		if !ok {
			failed = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: t.failure.Error()}
		}
		out.Error = failed
	}
	return out, nil
}

// cancelTask cancels a task. One that has ended stays as it is.
func (ts *tasks) cancelTask(_ context.Context, params *taskParams) (*emptyAnswer, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t, err := ts.findTaskLocked(params.TaskID)
	if err != nil {
		return nil, err
	}
	t.cancel()
	return &emptyAnswer{ResultType: "complete"}, nil
}

// updateTask acknowledges answers to questions. A task here never asks its client anything.
func (ts *tasks) updateTask(_ context.Context, params *taskParams) (*emptyAnswer, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if _, err := ts.findTaskLocked(params.TaskID); err != nil {
		return nil, err
	}
	return &emptyAnswer{ResultType: "complete"}, nil
}
