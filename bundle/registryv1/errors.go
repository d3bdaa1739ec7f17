package registryv1

import (
	"fmt"
	"strings"
)

// InvalidError says why a bundle cannot be installed: all reasons, not only the first. Only another bundle helps.
type InvalidError struct {
	// Bundle is the name of the bundle.
	Bundle string
	// Problems are the reasons, each with the place in the bundle and what its author has to do.
	Problems []error
}

// Error has one line for each problem.
func (e *InvalidError) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, problem := range e.Problems {
		lines = append(lines, problem.Error())
	}
	return fmt.Sprintf("invalid bundle %s: %s", e.Bundle, strings.Join(lines, "\n"))
}

// Unwrap gives errors.Is and errors.As the problems.
func (e *InvalidError) Unwrap() []error { return e.Problems }

// ConfigError says why a configuration does not fit its bundle. Only another configuration or another bundle helps.
type ConfigError struct {
	// Problems are the reasons, each with the field that it is about.
	Problems []string
}

// Error has the words that clients of ClusterExtensions look for.
func (e *ConfigError) Error() string {
	const prefix = "invalid ClusterExtension configuration: invalid configuration: "
	if len(e.Problems) == 1 {
		return prefix + e.Problems[0]
	}
	return prefix + "multiple errors found:\n  - " + strings.Join(e.Problems, "\n  - ")
}
