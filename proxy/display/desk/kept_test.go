package desk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// watched is an agent's process as a desk watches it.
type watched struct {
	ended map[asker]func()
	gone  bool
}

// letKeep lets the user of a stage give answers for a while.
func (s *stage) letKeep() *watched {
	w := &watched{ended: make(map[asker]func())}
	s.conf.CanKeep = func() bool { return !s.signless }
	s.conf.WatchEnd = func(pid int, started int64, ended func()) (func(), bool) {
		w.ended[asker{pid, started}] = ended
		return func() { delete(w.ended, asker{pid, started}) }, !w.gone
	}
	return w
}

// keepable is the question of a sudo that a proven agent runs; each has a process of its own.
func (s *stage) keepable(id string, change func(m *protocol.SecretAsk)) *protocol.SecretAsk {
	s.asked++
	m := &protocol.SecretAsk{
		RequestID: id, SessionID: "s", Kind: protocol.SecretHidden, Prompt: "[sudo] password for ada: ", PublicKeyB64: s.key.PublicKey().Bytes(),
		Asker: protocol.SecretAsker{
			Program: "sudo", Command: "sudo make install", Cwd: "/home/ada/app", Target: "-", Pid: 100 + s.asked, Started: 5,
			Agent: "claude", Proven: true, AgentPid: 7, AgentStarted: 3,
		},
	}
	if change != nil {
		change(m)
	}
	s.Ask(m)
	return m
}

// keep answers a question for a while.
func (s *stage) keep(change func(m *protocol.SecretAsk)) *protocol.SecretAsk {
	s.t.Helper()
	m := s.keepable("1", change)
	s.show()
	require.Empty(s.t, s.press("\x07\tsecret\r"))
	_, text := s.answer(m)
	require.Equal(s.t, "secret", text)
	return m
}

// requireKept fails unless an equal question is answered without the user, or is not.
func (s *stage) requireKept(want bool, name string) {
	s.t.Helper()
	m := s.keepable("later", nil)
	require.Equal(s.t, !want, s.HasQuestion(), name)
	if !want {
		require.Empty(s.t, s.sent, name)
		s.Withdraw("later")
		return
	}
	_, text := s.answer(m)
	require.Equal(s.t, "secret", text, name)
}

func (s *stage) count() int { n, _, _ := s.CountKept(); return n }

// The user gives an answer for a while: equal questions of later processes get it, sealed to each.
// The line says so before Enter, the user reads of each use, and the log has it.
func TestAnAnswerForAWhile(t *testing.T) {
	run(t, "kept", func(t *testing.T, s *stage) {
		s.letKeep()
		m := s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07"))
		line, _ := s.ComposeLine(120, 24)
		require.Contains(t, line, "password for sudo: ▏")
		require.Contains(t, line, "Tab: for 15 min")
		require.Empty(t, s.press("\tsecret"))
		line, _ = s.ComposeLine(120, 24)
		require.Contains(t, line, "password for sudo, kept 15 min: ••••••▏")
		require.Contains(t, line, "Tab: only once")
		require.Empty(t, s.press("\r"))
		first, _ := s.answer(m)
		n, program, until := s.CountKept()
		require.Equal(t, 1, n)
		require.Equal(t, "sudo", program)
		require.Equal(t, keepFor, time.Until(until))
		require.Empty(t, s.shown)

		second := s.keepable("2", nil)
		got, text := s.answer(second)
		require.Equal(t, "secret", text)
		require.NotEqual(t, first.SealedB64, got.SealedB64, "sealed anew")
		require.Equal(t, []bool{false, true}, []bool{first.Kept, got.Kept}, "no person was asked")
		require.False(t, s.HasQuestion())
		require.Equal(t, []string{"“claude” used the kept password: “sudo make install” in “~/app”"}, s.shown)
		require.Equal(t, []string{answeredKept, usedKept}, []string{s.told[0].Fate, s.told[1].Fate})
		require.Equal(t, "sudo make install", s.told[1].Command)
		s.answer(s.keepable("3", nil))
		require.Equal(t, "“claude” used the kept password (use 2): “sudo make install” in “~/app”", s.shown[1], "the user may have missed the first")
	})
	run(t, "questions that wait already", func(t *testing.T, s *stage) {
		s.letKeep()
		s.keepable("1", nil)
		s.keepable("2", func(m *protocol.SecretAsk) { m.Asker.Target = "bob" })
		s.keepable("3", nil)
		s.keepable("4", func(m *protocol.SecretAsk) { m.Again = true })
		s.show()
		require.Empty(t, s.press("\x07\tsecret\r"))
		synctest.Wait()
		answered := []string{}
		for _, m := range s.sent {
			answered = append(answered, protocol.RequestID(m))
		}
		require.ElementsMatch(t, []string{"1", "3"}, answered)
		require.Equal(t, []string{"“claude” used the kept password: “sudo make install” in “~/app”"}, s.shown)
		require.Equal(t, 1, s.count())
		line, _ := s.ComposeLine(120, 24)
		require.Contains(t, line, "1 of 2")
		s.ForgetKept("over")
		s.Withdraw("2")
		s.Withdraw("4")
	})
	run(t, "read at every size", func(t *testing.T, s *stage) {
		s.letKeep()
		s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07secret"))
		for _, cols := range []int{1, 20, 39, 40, 41, 60, 79, 80, 81, 130} {
			for rows := 1; rows <= 12; rows++ {
				at := fmt.Sprintf("%d columns, %d rows", cols, rows)
				offered, _ := s.ComposeLine(cols, rows)
				require.Empty(t, s.press("\t"))
				line, _ := s.ComposeLine(cols, rows)
				isOffered := cols >= keepCols && rows >= keepRows
				require.Equal(t, isOffered, strings.Contains(offered, "Tab: for 15 min"), at)
				require.Equal(t, isOffered, strings.Contains(line, "kept 15 min: ••••••▏"), at+line)
				require.Equal(t, isOffered, strings.Contains(line, "Tab: only once"), at)
				require.Equal(t, isOffered, s.keeping, at)
				if s.keeping {
					require.Empty(t, s.press("\t"))
				}
			}
		}
		s.Withdraw("1")
	})
	run(t, "a window made small under the user's choice", func(t *testing.T, s *stage) {
		s.letKeep()
		m := s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07\tsecret"))
		line, _ := s.ComposeLine(30, 24)
		require.NotContains(t, line, "kept")
		require.Empty(t, s.press("\r"))
		s.answer(m)
		require.Zero(t, s.count())
	})
	run(t, "once, after all", func(t *testing.T, s *stage) {
		s.letKeep()
		m := s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07\tsecret\t\r"))
		s.answer(m)
		require.Equal(t, protocol.SecretGiven, s.told[0].Fate)
		s.requireKept(false, "an answer given once")
	})
	run(t, "a line closed and opened anew is for once", func(t *testing.T, s *stage) {
		s.letKeep()
		m := s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07\tsec\x03"))
		s.show()
		require.Empty(t, s.press("\x07secret\r"))
		s.answer(m)
		s.requireKept(false, "an answer given once")
	})
	run(t, "Tab in a paste is no choice", func(t *testing.T, s *stage) {
		s.letKeep()
		m := s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07\x1b[200~\tsecret\t\x1b[201~\r"))
		s.answer(m)
		s.requireKept(false, "an answer given once")
	})
}

// A question that differs from the kept one in anything that binds it goes to the user.
func TestAnotherQuestionIsAsked(t *testing.T) {
	for name, change := range map[string]func(m *protocol.SecretAsk){
		"another agent":                     func(m *protocol.SecretAsk) { m.Asker.AgentPid++ },
		"a later process with its number":   func(m *protocol.SecretAsk) { m.Asker.AgentStarted++ },
		"another program":                   func(m *protocol.SecretAsk) { m.Asker.Program = "git" },
		"another target":                    func(m *protocol.SecretAsk) { m.Asker.Target = "postgres" },
		"another directory":                 func(m *protocol.SecretAsk) { m.Asker.Cwd = "/home/ada" },
		"other words":                       func(m *protocol.SecretAsk) { m.Prompt = "Verification code: " },
		"an agent told by its looks":        func(m *protocol.SecretAsk) { m.Asker.Proven = false },
		"an agent whose process is unknown": func(m *protocol.SecretAsk) { m.Asker.AgentPid = 0 },
		"a target that is unknown":          func(m *protocol.SecretAsk) { m.Asker.Target = "" },
		"a directory that is unknown":       func(m *protocol.SecretAsk) { m.Asker.Cwd = "" },
		"a name":                            func(m *protocol.SecretAsk) { m.Kind = protocol.SecretText },
		"a new host":                        func(m *protocol.SecretAsk) { m.Kind = protocol.SecretConfirm },
	} {
		run(t, name, func(t *testing.T, s *stage) {
			s.letKeep()
			s.keep(nil)
			s.keepable("2", change)
			require.True(t, s.HasQuestion())
			require.Empty(t, s.sent)
			s.Withdraw("2")
			s.requireKept(true, "the equal question")
		})
	}
	for name, change := range map[string]func(m *protocol.SecretAsk){
		"an agent told by its looks":        func(m *protocol.SecretAsk) { m.Asker.Proven = false },
		"an agent whose process is unknown": func(m *protocol.SecretAsk) { m.Asker.AgentPid = 0 },
		"an agent of an unknown time":       func(m *protocol.SecretAsk) { m.Asker.AgentStarted = 0 },
		"a target that is unknown":          func(m *protocol.SecretAsk) { m.Asker.Target = "" },
		"a directory that is unknown":       func(m *protocol.SecretAsk) { m.Asker.Cwd = "" },
		"a name":                            func(m *protocol.SecretAsk) { m.Kind = protocol.SecretText },
	} {
		run(t, "not offered for "+name, func(t *testing.T, s *stage) {
			s.letKeep()
			m := s.keepable("1", change)
			s.show()
			require.Empty(t, s.press("\x07\tsecret"))
			line, _ := s.ComposeLine(120, 24)
			require.NotContains(t, line, "Tab")
			require.NotContains(t, line, "15 min")
			require.Empty(t, s.press("\r"))
			s.answer(m)
			require.Zero(t, s.count())
		})
	}
	run(t, "not offered without a sign", func(t *testing.T, s *stage) {
		s.letKeep()
		s.signless = true
		m := s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07\tsecret\r"))
		s.answer(m)
		require.Zero(t, s.count())
	})
}

// What ends the time of a kept answer, and that its memory is empty then.
func TestWhatEndsAKeptAnswer(t *testing.T) {
	reasons := map[string]string{
		"its time": "15 minutes are over", "the agent's end": "“claude” has ended", "the key": `you pressed Ctrl+\`,
		"a word from outside": "bob stopped it", "a lost gateway": "the gateway is gone", "leaving": "this terminal was left",
		"sleep": "the computer slept", "the sign's end": unseen, "a small window": unseen, "a refusal": `you pressed Ctrl+\`,
	}
	for name, end := range map[string]func(s *stage, w *watched, first *protocol.SecretAsk){
		"a small window": func(s *stage, _ *watched, _ *protocol.SecretAsk) {
			s.ComposeLine(keepCols-1, 24)
			s.ComposeLine(80, 24)
		},
		"its time":            func(*stage, *watched, *protocol.SecretAsk) { time.Sleep(keepFor) },
		"the agent's end":     func(_ *stage, w *watched, _ *protocol.SecretAsk) { w.ended[asker{7, 3}]() },
		"the key":             func(s *stage, _ *watched, _ *protocol.SecretAsk) { require.Empty(s.t, s.press("\x1c")) },
		"a word from outside": func(s *stage, _ *watched, _ *protocol.SecretAsk) { require.True(s.t, s.ForgetKept("bob stopped it")) },
		"a lost gateway":      func(s *stage, _ *watched, _ *protocol.SecretAsk) { s.LoseGateway() },
		"leaving":             func(s *stage, _ *watched, _ *protocol.SecretAsk) { s.Leave() },
		"sleep": func(s *stage, _ *watched, _ *protocol.SecretAsk) {
			s.mu.Lock()
			s.kept.all[0].slept.Total = func() time.Duration { return 1 << 62 }
			s.mu.Unlock()
			time.Sleep(checkEvery)
		},
		"the sign's end": func(s *stage, _ *watched, _ *protocol.SecretAsk) {
			s.signless = true
			s.keepable("x", nil)
			s.Withdraw("x")
			s.signless = false
		},
		"a refusal": func(s *stage, _ *watched, _ *protocol.SecretAsk) {
			s.keepable("x", func(m *protocol.SecretAsk) { m.Asker.Target = "bob" })
			s.show()
			require.Empty(s.t, s.press("\x1c"))
			s.sent = nil
		},
		"a wrong password": func(s *stage, _ *watched, first *protocol.SecretAsk) {
			again := *first
			again.RequestID = "again"
			s.Ask(&again)
			require.True(s.t, s.HasQuestion())
			s.Withdraw("again")
		},
		"a wrong password, as the gateway says": func(s *stage, _ *watched, _ *protocol.SecretAsk) {
			s.keepable("again", func(m *protocol.SecretAsk) { m.Again = true })
			require.True(s.t, s.HasQuestion())
			s.Withdraw("again")
		},
		"a wrong password in a later process": func(s *stage, _ *watched, _ *protocol.SecretAsk) {
			later := s.keepable("later", nil)
			s.answer(later)
			again := *later
			again.RequestID = "again"
			s.Ask(&again)
			require.True(s.t, s.HasQuestion())
			s.Withdraw("again")
		},
	} {
		run(t, name, func(t *testing.T, s *stage) {
			w := s.letKeep()
			first := s.keep(nil)
			s.requireKept(true, "before")
			end(s, w, first)
			synctest.Wait()
			s.mu.Lock()
			require.Empty(t, s.kept.all, "before anything looks")
			s.mu.Unlock()
			require.Empty(t, w.ended, "no process is watched in vain")
			require.Equal(t, "the password for sudo is no longer kept: "+cmp.Or(reasons[name], "sudo asks again"), s.shown[len(s.shown)-1])
			s.requireKept(false, "after")
		})
	}
	run(t, "a moment before its time", func(_ *testing.T, s *stage) {
		s.letKeep()
		s.keep(nil)
		time.Sleep(keepFor - time.Second)
		s.requireKept(true, "before")
		s.ForgetKept("over")
	})
	run(t, "memory is emptied", func(t *testing.T, s *stage) {
		s.letKeep()
		s.keep(nil)
		k := s.kept.all[0]
		page := append([]byte(nil), k.page...)
		require.Contains(t, string(page), "secret")
		unwind := k.unwind
		k.unwind = nil // the memory stays readable
		mapped := k.page
		s.ForgetKept("over")
		require.Empty(t, slices.DeleteFunc(slices.Clone(mapped), func(b byte) bool { return b == 0 }))
		for _, undo := range unwind {
			undo()
		}
	})
	run(t, "the agent has ended before", func(t *testing.T, s *stage) {
		s.letKeep().gone = true
		m := s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07\tsecret\r"))
		s.answer(m)
		synctest.Wait()
		require.Equal(t, protocol.SecretGiven, s.told[0].Fate)
		require.Zero(t, s.count())
		require.Equal(t, []string{"the password could not be kept: it was used once"}, s.shown)
	})
	run(t, "the key, pressed twice, is not the program's", func(t *testing.T, s *stage) {
		s.letKeep()
		s.keep(nil)
		require.Empty(t, s.press("\x1c\x1c"))
		synctest.Wait()
		require.Equal(t, []string{`the password for sudo is no longer kept: you pressed Ctrl+\`}, s.shown)
	})
	run(t, "another question under the user's choice", func(t *testing.T, s *stage) {
		s.letKeep()
		m := s.keepable("1", nil)
		s.show()
		require.Empty(t, s.press("\x07\tsec"))
		s.LoseGateway()
		again := *m
		again.RequestID, again.Asker.Target = "2", "bob"
		s.Ask(&again) // another gateway says something else of the same process
		require.Empty(t, s.press("ret\r"))
		s.answer(&again)
		require.Zero(t, s.count(), "the user chose for another question")
	})
	run(t, "more than are kept", func(t *testing.T, s *stage) {
		s.letKeep()
		for i := range maxKept + 1 {
			s.keep(func(m *protocol.SecretAsk) { m.Asker.Target = string(rune('a' + i)) })
		}
		require.Equal(t, maxKept, s.count())
		synctest.Wait()
		require.Equal(t, []string{"the password for sudo is no longer kept: a newer one is (3 others still are)"}, s.shown)
		s.keepable("2", func(m *protocol.SecretAsk) { m.Asker.Target = "a" })
		require.True(t, s.HasQuestion(), "the oldest is forgotten")
		s.ForgetKept("over")
		synctest.Wait()
		require.Equal(t, "4 passwords are no longer kept: over", s.shown[1])
	})
}
