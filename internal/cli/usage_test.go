package cli

import (
	"bytes"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
)

func TestFlagsThatExcludeEachOtherAreWrongUsage(t *testing.T) {
	var out, errs bytes.Buffer
	code := Run(t.Context(), []string{"catalog", "render", "--migrate", "--migrate-level", "none", "nowhere"}, nil, &out, &errs)
	if code != command.ExitUsage {
		t.Errorf("exit code %d, want %d", code, command.ExitUsage)
	}
	contains(t, errs.String(), "fairlead catalog render --help")
}
