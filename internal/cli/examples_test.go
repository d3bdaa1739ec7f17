package cli

import (
	"io"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli/authoring"
	"fairlead.dev/fairlead/test/script"
)

// TestExamples: each command shows how it is called, in words that it understands.
func TestExamples(t *testing.T) {
	root, _ := newRoot(strings.NewReader(""), io.Discard, io.Discard)
	script.CheckExamples(t, root)
	script.CheckExamples(t, authoring.NewOpm())
}
