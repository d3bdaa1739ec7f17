package manager

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestAPIs(t *testing.T) {
	for text, want := range map[string]string{"v0": "v0", "v0,v1": "v0,v1", "v1,v0": "v0,v1", "v1": "cannot be switched off", "": "is no API", "v0,v2": "is no API"} {
		var o Options
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		flags.Var(&textFlag{set: o.setAPIs}, "apis", "")
		got := ""
		if err := flags.Parse([]string{"--apis=" + text}); err != nil {
			got = err.Error()
		} else {
			got = flags.Lookup("apis").Value.String()
		}
		if !strings.Contains(got, want) || o.WithoutV1 != (text == "v0") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
