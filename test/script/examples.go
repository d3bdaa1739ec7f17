package script

import (
	"strings"
	"testing"

	"github.com/google/shlex"
	"github.com/spf13/cobra"
)

// CheckExamples reports commands below root without examples, and examples that the commands do not understand.
func CheckExamples(t *testing.T, root *cobra.Command) {
	t.Helper()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" || cmd.Name() == "help" || cmd.Hidden || cmd.RunE == nil && cmd.Run == nil && !cmd.HasSubCommands() { // cobra's own, and topics
			continue
		}
		CheckExamples(t, cmd)
		if cmd.HasSubCommands() && cmd.Example == "" { // a group
			continue
		}
		called := 0
		for line := range strings.Lines(cmd.Example) {
			words, err := shlex.Split(line) // without comments
			if err != nil {
				t.Errorf("%s: example %q: %v", cmd.CommandPath(), line, err)
			}
			for i, word := range words { // what a shell does with the rest
				if word == "|" || word == ">" || word == "<" || word == "&&" || word == ";" {
					words = words[:i]
					break
				}
			}
			if len(words) == 0 || words[0] != root.Root().Name() {
				continue
			}
			checkExample(t, cmd, words[1:], line)
			called++
		}
		if called == 0 {
			t.Errorf("%s has no example that calls it", cmd.CommandPath())
		}
	}
}

func checkExample(t *testing.T, of *cobra.Command, words []string, line string) {
	t.Helper()
	cmd, rest, err := of.Root().Find(words)
	if err != nil {
		t.Errorf("%s: example %q: %v", of.CommandPath(), line, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: example %q: %v", of.CommandPath(), line, err)
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: example %q: %v", of.CommandPath(), line, err)
	}
}
