package mcp

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tasksExtension lets a server answer a call with a task (SEP-2663), in the revision without
// sessions.
const tasksExtension = "io.modelcontextprotocol/tasks"

// taskState is a task on the wire, without the fields that depend on its status.
type taskState struct {
	TaskID         string     `json:"taskId"`
	Status         taskStatus `json:"status"`
	StatusMessage  string     `json:"statusMessage,omitempty"`
	CreatedAt      string     `json:"createdAt"`
	LastUpdatedAt  string     `json:"lastUpdatedAt"`
	TTLMs          int64      `json:"ttlMs"`
	PollIntervalMs int64      `json:"pollIntervalMs"`
}

// createdTask answers a call that became a task.
type createdTask struct {
	mcp.ResultBase
	taskState

	ResultType string `json:"resultType"`
}

// polledTask answers tasks/get.
type polledTask struct {
	mcp.ResultBase
	taskState

	ResultType string         `json:"resultType"`
	Result     mcp.Result     `json:"result,omitempty"`
	Error      *jsonrpc.Error `json:"error,omitempty"`
}

type taskParams struct {
	mcp.ParamsBase

	TaskID string `json:"taskId"`
	// InputResponses belong to tasks/update. Tasks here never ask for input.
	InputResponses map[string]any `json:"inputResponses,omitempty"`
}

type emptyAnswer struct {
	mcp.ResultBase

	ResultType string `json:"resultType"`
}

// supportsTasks reports whether the client of a request supports tasks. Each request declares this
// again; earlier ones do not count.
func supportsTasks(meta map[string]any) bool {
	version, _ := meta[mcp.MetaKeyProtocolVersion].(string)
	capabilities, _ := meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := capabilities["extensions"].(map[string]any)
	_, ok := extensions[tasksExtension]
	return ok && version >= stateless
}

// metaOf returns a request's metadata, nil without parameters.
func metaOf(req mcp.Request) map[string]any {
	params := req.GetParams()
	if v := reflect.ValueOf(params); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return params.GetMeta()
}

// addTasks lets the calls of clients that support tasks become tasks. For all others nothing
// changes.
func (s *Server) addTasks() {
	s.mcp.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if !supportsTasks(metaOf(req)) {
				return next(ctx, method, req)
			}
			call, ok := req.(*mcp.CallToolRequest)
			if ok && slices.Contains(taskTools, call.Params.Name) {
				return s.tasks.runAsTask(ctx, next, method, call)
			}
			res, err := next(ctx, method, req)
			switch res := res.(type) {
			case *mcp.DiscoverResult:
				res.Capabilities.AddExtension(tasksExtension, nil)
				res.Instructions = s.cfg.instructions(habits{tasks: true})
			case *mcp.ListToolsResult:
				describeTaskTools(res)
			}
			return res, err
		}
	})
	addTaskMethod(s, "tasks/get", s.tasks.getTask)
	addTaskMethod(s, "tasks/cancel", s.tasks.cancelTask)
	addTaskMethod(s, "tasks/update", s.tasks.updateTask)
}

// describeTaskTools describes the tools to the model of a client that supports tasks.
func describeTaskTools(list *mcp.ListToolsResult) {
	i := slices.IndexFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == taskTools[0] })
	if i < 0 {
		return
	}
	changed := *list.Tools[i]
	changed.Description = waitWords + taskWords
	list.Tools[i] = &changed
}

// addTaskMethod registers a method of the extension, for clients that support it.
func addTaskMethod[R mcp.Result](
	s *Server, method string, handle func(context.Context, *taskParams) (R, error),
) {
	checked := func(
		ctx context.Context, _ *mcp.ServerSession, params *taskParams,
	) (answer R, err error) {
		if params == nil {
			params = new(taskParams)
		}
		meta := params.GetMeta()
		switch version, _ := meta[mcp.MetaKeyProtocolVersion].(string); {
		case version < stateless: // as for any other method that this server does not have
			return answer, &jsonrpc.Error{
				Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("%q unsupported", method),
			}
		case !supportsTasks(meta):
			return answer, &jsonrpc.Error{
				Code: mcp.CodeMissingRequiredClientCapabilities,
				Message: method + " needs the extension " + tasksExtension +
					" in this request's client capabilities",
				Data: []byte(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
			}
		}
		return handle(ctx, params)
	}
	if err := mcp.AddReceivingCustomMethod(s.mcp, method, checked); err != nil {
		panic(err) // only the name of a standard method fails
	}
}
