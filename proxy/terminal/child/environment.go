package child

import (
	"slices"
	"strings"
)

// WithVariables returns env with these variables, each as name=value, in place of those with the
// same names. It reuses the slice env.
func WithVariables(env []string, variables ...string) []string {
	for _, v := range variables {
		name, _, _ := strings.Cut(v, "=")
		env = append(WithoutVariable(env, name), v)
	}
	return env
}

// WithoutVariable returns env without the variable of this name. It reuses the slice env.
func WithoutVariable(env []string, name string) []string {
	return slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}
