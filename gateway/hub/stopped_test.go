package hub

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// process is stopped while word is not empty.
type process struct{ word atomic.Value }

func (p *process) StopReason() string {
	word, _ := p.word.Load().(string)
	return word
}

func (p *process) ProcessID() int { return 0 }

// The request ends soon, with a sentence, even if only a person decides how long it takes.
func TestARequestToAStoppedProxyEndsR74(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil)
		p := new(process)
		proxy := h.Join(Member{Role: RoleProxy, Process: p})
		proxy.Handle(opening("vim-1", "secret"))
		agent := h.Join(Member{Role: RoleAgent, ID: "a-1"})
		ask := []protocol.Message{
			&protocol.Read{RequestID: "read", SessionID: "vim-1"},
			&protocol.Wait{RequestID: "wait", SessionID: "vim-1", Until: protocol.Until{Exit: true}, TimeoutMs: 600_000},
			&protocol.ControlRequest{RequestID: "ask", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "x"},
			&protocol.Input{RequestID: "input", SessionID: "vim-1", Data: "x"},
		}
		for _, m := range ask[1:3] {
			agent.Handle(m)
		}
		time.Sleep(time.Minute)
		require.Empty(t, allMessages(agent), "a proxy that is not stopped may take its time")
		p.word.Store("process 7 is stopped")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Len(t, allMessages(agent), 2)
		for _, m := range ask {
			allMessages(proxy)
			agent.Handle(m)
			time.Sleep(probeAfter)
			synctest.Wait()
			answer := mustFail(t, agent, protocol.RequestID(m), protocol.CodeUnavailable)
			require.Contains(t, answer.Message, "process 7 is stopped")
			if _, typed := m.(*protocol.Input); typed {
				require.Contains(t, answer.Message, "may still be typed")
			}
			last := allMessages(proxy)
			_, cancelled := last[len(last)-1].(*protocol.Cancel)
			_, reads := m.(*protocol.Read)
			require.Equal(t, !reads, cancelled, "%T", m)
		}
		p.word.Store("")
		agent.Handle(ask[0])
		time.Sleep(grace)
		synctest.Wait()
		mustFail(t, agent, "read", protocol.CodeTimeout)
		agent.Leave()
		proxy.Leave()
		h.Close()
	})
}
