package command

import (
	"testing"

	"fairlead.dev/fairlead/internal/manager"

	"github.com/spf13/pflag"
)

func TestGlobalPullSecret(t *testing.T) {
	for text, want := range map[string]string{"olm/pull": "olm/pull", "": "", "pull": "error", "/pull": "error", "olm/": "error", "a/b/c": "error"} {
		var o manager.Options
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		addClusterCatalogs(flags, &o)
		err := flags.Parse([]string{"--global-pull-secret=" + text})
		got := flags.Lookup("global-pull-secret").Value.String()
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q: %v", text, got, want, err)
		}
	}
}
