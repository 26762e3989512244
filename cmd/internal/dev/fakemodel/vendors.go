package fakemodel

import (
	"encoding/json"
)

type object = map[string]any

// anthropic is Anthropic Messages.
type anthropic struct{}

func (anthropic) writeAnswer(e *events, words string, c call) {
	usage := object{
		"input_tokens": 1, "output_tokens": 1,
		"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
	}
	open := object{"type": "text", "text": ""}
	delta, reason := object{"type": "text_delta", "text": words}, "end_turn"
	if c.name != "" {
		open = object{"type": "tool_use", "id": c.id, "name": c.name, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": c.args}, "tool_use"
	}
	send := func(kind string, more object) {
		more["type"] = kind
		e.writeEvent(kind, more)
	}
	send("message_start", object{"message": object{
		"id": "msg_" + c.id, "type": "message", "role": "assistant", "model": "fake",
		"content": []any{}, "stop_reason": nil, "usage": usage,
	}})
	send("content_block_start", object{"index": 0, "content_block": open})
	send("content_block_delta", object{"index": 0, "delta": delta})
	send("content_block_stop", object{"index": 0})
	send("message_delta", object{"delta": object{"stop_reason": reason}, "usage": usage})
	send("message_stop", object{})
}

// responses is OpenAI Responses.
type responses struct{}

func (responses) writeAnswer(e *events, words string, c call) {
	item := object{
		"type": "message", "id": "item", "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": words, "annotations": []any{}}},
	}
	if c.name != "" {
		item = object{
			"type": "function_call", "id": "fc_" + c.id, "call_id": c.id,
			"name": c.name, "arguments": c.args, "status": "completed",
		}
	}
	if c.name == toolSearch {
		item = object{
			"type": "tool_search_call", "call_id": c.id, "execution": "client",
			"arguments": json.RawMessage(c.args), "status": "completed",
		}
	}
	if c.namespace != "" {
		item["namespace"] = c.namespace
	}
	n := 0
	send := func(kind string, more object) {
		more["type"], more["sequence_number"] = kind, n
		n++
		e.writeEvent(kind, more)
	}
	send("response.created", object{"response": object{
		"id": "resp", "object": "response", "status": "in_progress", "output": []any{},
	}})
	send("response.output_item.added", object{"output_index": 0, "item": item})
	if c.name == "" {
		send("response.output_text.delta", object{
			"item_id": "item", "output_index": 0, "content_index": 0, "delta": words,
		})
	}
	send("response.output_item.done", object{"output_index": 0, "item": item})
	send("response.completed", object{"response": object{
		"id": "resp", "object": "response", "status": "completed", "output": []any{item},
		"usage": object{
			"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 1, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": 2,
		},
	}})
}

// chat is OpenAI Chat Completions.
type chat struct{}

func (chat) writeAnswer(e *events, words string, c call) {
	delta, reason := object{"role": "assistant", "content": words}, "stop"
	if c.name != "" {
		delta, reason = object{"role": "assistant", "tool_calls": []any{object{
			"index": 0, "id": c.id, "type": "function",
			"function": object{"name": c.name, "arguments": c.args},
		}}}, "tool_calls"
	}
	send := func(delta object, reason any) {
		e.writeEvent("", object{
			"id": "chat", "object": "chat.completion.chunk", "created": 1, "model": "fake",
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}},
			"usage":   object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
		})
	}
	send(delta, nil)
	send(object{}, reason)
	e.writeData("[DONE]")
}

// gemini is Gemini's generateContent.
type gemini struct{}

func (gemini) writeAnswer(e *events, words string, c call) {
	part := object{"text": words}
	if c.name != "" {
		part = object{"functionCall": object{
			"id": c.id, "name": c.name, "args": json.RawMessage(c.args),
		}}
	}
	e.writeEvent("", object{
		"candidates": []any{object{
			"index": 0, "content": object{"role": "model", "parts": []any{part}},
			"finishReason": "STOP",
		}},
		"modelVersion": "fake", "responseId": "fake",
		"usageMetadata": object{
			"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2,
		},
	})
}
