package observe

import (
	"fmt"

	"terminalproxy/protocol"
)

// EnterDelayMs is the quiet time that text gets before its Enter. Programs that tell typing from pasting by its speed
// take an Enter that follows at once for a part of the text, and do not act on it.
const EnterDelayMs = 250

// BeforeEnter makes the input before the last one, an Enter, wait for the screen: the program has to take the text
// first.
func BeforeEnter(inputs []*protocol.Input) {
	if len(inputs) > 1 {
		text := inputs[len(inputs)-2]
		text.SettleMs = max(text.SettleMs, EnterDelayMs)
	}
}

// CheckInputs refuses what a gateway would not take: it cuts the connection of who sends a longer frame.
func CheckInputs(inputs []*protocol.Input) error {
	const roomForRest = 2048 // ids and numbers of the frame
	for _, input := range inputs {
		probe := *input
		probe.RequestID = "r"
		frame, err := protocol.Encode(&probe)
		if err != nil {
			return fmt.Errorf("this cannot be typed: %w", err)
		}
		if len(frame) > protocol.MaxAgentMessage-roomForRest {
			return fmt.Errorf("this is too much for one input: %d bytes on the wire, at most %d are possible: send it in parts",
				len(frame), protocol.MaxAgentMessage-roomForRest)
		}
	}
	return nil
}

// Keys names keys for a receipt.
func Keys(names string) string { return short(names, 120) }
