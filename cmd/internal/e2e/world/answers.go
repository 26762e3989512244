package world

import (
	"context"
	"slices"
	"sync"

	"terminalproxy/cmd/internal/dev/fakemodel"
)

// ServeAnswers serves a model that gives these answers, one for each prompt. prompts returns the
// prompts that the model received.
func (a *account) ServeAnswers(answers ...string) (prompts func() []string, url string) {
	var mu sync.Mutex
	var asked []string
	url = a.Model(func(_ context.Context, r fakemodel.Request) fakemodel.Turn {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Prompt)
		if len(asked) > len(answers) {
			return fakemodel.Turn{Say: "NO MORE ANSWERS"}
		}
		return fakemodel.Turn{Say: "ANSWER " + answers[len(asked)-1]}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}, url
}
