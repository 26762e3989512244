package child

import (
	"slices"
	"strings"
)

// WithVariables is env with these variables, each as name=value, in place of those of the same
// names. Env itself is no longer of use.
func WithVariables(env []string, variables ...string) []string {
	for _, v := range variables {
		name, _, _ := strings.Cut(v, "=")
		env = append(WithoutVariable(env, name), v)
	}
	return env
}

// WithoutVariable is env without the variable of this name. Env itself is no longer of use.
func WithoutVariable(env []string, name string) []string {
	return slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}
