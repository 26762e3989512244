package acp

import (
	"errors"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/stdio"
)

// Send is that of [chat.Driver].
func (d *Driver) Send(p chat.Prompt) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	// prompts keep their order
	if d.steers && d.running.ID != "" && !d.interrupted && len(d.queue) == 0 {
		return d.steerTurn(p)
	}
	d.queue = append(d.queue, p)
	return d.sendNextLocked()
}

// steerTurn adds a prompt to the running turn. A prompt that comes too late waits for its own turn.
func (d *Driver) steerTurn(p chat.Prompt) error {
	interrupts := d.interrupts
	return d.callLocked("_session/steering", map[string]any{
		"sessionId": d.session, "prompt": promptBlocks(p),
		"_meta": map[string]any{"steering": map[string]any{"idleBehavior": "promptRequired"}},
	}, func(r reply) {
		var got struct{ Outcome string }
		if d.readResult(r, &got) == nil &&
			(got.Outcome == "injected" || got.Outcome == "startedNewTurn") {
			d.report(chat.PromptAccepted{Prompt: p.ID})
			d.steered = append(d.steered, p.Text)
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.interrupts != interrupts {
			d.dropped = append(d.dropped, p.ID)
			return
		}
		d.queue = append(d.queue, p)
		_ = d.sendNextLocked() // an ended agent is reported
	})
}

// promptBlocks converts a prompt into content blocks of the protocol.
func promptBlocks(p chat.Prompt) []any {
	all := []any{map[string]any{"type": "text", "text": p.Text}}
	for _, i := range p.Images {
		// bytes are base64 in JSON
		all = append(all, map[string]any{"type": "image", "mimeType": i.Type, "data": i.Data})
	}
	return all
}

// ImageRefusal is that of [chat.ImageDriver].
func (d *Driver) ImageRefusal() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.session == "":
		return errors.New(
			"has yet to say whether it takes images: try again when it is at its prompt",
		)
	case !d.images:
		return errors.New("takes no images: name the file's path in the prompt")
	}
	return nil
}

// sendNextLocked sends the next prompt, unless one runs. The caller must hold d.mu.
func (d *Driver) sendNextLocked() error {
	for len(d.queue) > 0 && d.queue[0].MayAct.Refusal() != nil {
		d.dropped, d.queue = append(d.dropped, d.queue[0].ID), d.queue[1:]
	}
	if d.session == "" || d.running.ID != "" || len(d.queue) == 0 {
		return nil
	}
	d.running, d.queue = d.queue[0], d.queue[1:]
	return d.callLocked("session/prompt", map[string]any{
		"sessionId": d.session, "prompt": promptBlocks(d.running),
	}, d.handleTurnEnd)
}

func (d *Driver) sendNextPrompt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.sendNextLocked() // an ended agent is reported
}

// handleTurnEnd reports how a turn ended and sends the next prompt.
func (d *Driver) handleTurnEnd(r reply) {
	d.flush()
	d.mu.Lock()
	interrupted := d.interrupted
	d.running, d.interrupted = chat.Prompt{}, false
	d.mu.Unlock()
	steered := d.steered
	d.steered = nil
	var got struct{ StopReason string }
	turn := chat.Turn{Outcome: chat.Done}
	switch err := d.readResult(r, &got); {
	case err != nil:
		turn = chat.Turn{Outcome: chat.Broken, Why: err.Error()}
	case got.StopReason == "cancelled" && interrupted:
		turn = chat.Turn{Outcome: chat.Interrupted, Why: "interrupted"}
	// by the agent itself, after a refusal
	case got.StopReason != "end_turn" && got.StopReason != "cancelled":
		turn = chat.Turn{
			Outcome: chat.Broken,
			Why:     "it stopped: " + stdio.ShortenText(got.StopReason),
		}
	}
	if got.StopReason == "cancelled" {
		for _, text := range steered {
			d.reportNotice("may not have read: %s", stdio.ShortenText(text))
		}
	}
	d.report(chat.Finished{Turn: turn})
	d.sendNextPrompt()
}

// Interrupt is that of [chat.Driver].
func (d *Driver) Interrupt(chat.MayAct) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.queue {
		d.dropped = append(d.dropped, p.ID)
	}
	d.queue = nil
	d.interrupts++
	if d.running.ID == "" {
		return nil
	}
	d.interrupted = true
	return d.program.Send(map[string]any{
		"jsonrpc": "2.0",
		"method":  "session/cancel",
		"params":  map[string]any{"sessionId": d.session},
	})
}
