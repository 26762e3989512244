package requests

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/view/corpus"
)

// TestUnheardAnswers plays what agents ask, hear and miss.
func TestUnheardAnswers(t *testing.T) {
	corpus.Plays(t, "unheard", func(t *testing.T, steps []corpus.Step) {
		var a unheardAnswers
		for _, s := range steps {
			agent, id := s.Arg(1), s.Arg(2)
			told := ""
			switch word := s.Words[0]; word {
			case "asks":
				a.noteRequest(agent, id)
			case "leaves": // the call for a request
				told = a.markAbandoned(agent, id == "withdrawn")
			case "waits":
				told = a.takeForWait(agent, id)
			case "told":
				a.markDelivered(agent, id, s.Arg(3))
			case "next":
				told = a.takeDecision(agent)
			default:
				e := control.Event{Granted: word == "granted", Agent: control.Agent{ID: agent}, Reason: protocol.Reason(word)}
				heard := slices.Contains(s.Words, "heard")
				for _, id := range s.Words[2:] {
					if id != "heard" {
						e.Requests = append(e.Requests, id)
					}
				}
				a.recordDecision(e, word, heard)
			}
			for _, w := range s.Wants {
				require.Equal(t, w.Value, told, s.Line)
			}
		}
	})
}

func TestUnheardAnswersAreBounded(t *testing.T) {
	var a unheardAnswers
	for i := range 1000 {
		agent := fmt.Sprint("x", i)
		a.markAbandoned(agent, false)
		a.storeDecision(agent, "granted")
		a.takeForWait(agent, "w")
		require.LessOrEqual(t, len(a.abandoned), answersKept)
		require.LessOrEqual(t, len(a.delivered), answersKept)
	}
	a.markAbandoned("1", false)
	a.recordDecision(control.Event{Granted: true, Agent: control.Agent{ID: "ada"}, Requests: []string{"1"}}, "granted", false)
	require.Equal(t, "granted", a.takeDecision("ada"), "the newest is kept")
}
