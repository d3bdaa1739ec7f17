package manager

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestAllowedBundleRegistries(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"not said":       {nil, ""},
		"empty":          {[]string{"--allowed-bundle-registries="}, ""},
		"some":           {[]string{"--allowed-bundle-registries=quay.io/org,registry.example.com:5000"}, "quay.io/org,registry.example.com:5000"},
		"said twice":     {[]string{"--allowed-bundle-registries=quay.io/org", "--allowed-bundle-registries=ghcr.io"}, "quay.io/org,ghcr.io"},
		"a comma to end": {[]string{"--allowed-bundle-registries=quay.io,"}, "error"},
		"no host":        {[]string{"--allowed-bundle-registries=org"}, "error"},
	} {
		var o Options
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		addClusterCatalogFlags(flags, &o)
		err := flags.Parse(test.args)
		got := strings.Join(o.AllowedBundleRegistries, ",")
		if err != nil {
			got = "error"
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q: %v", name, got, test.want, err)
		}
	}
}

func TestGlobalPullSecret(t *testing.T) {
	for text, want := range map[string]string{"olm/pull": "olm/pull", "": "", "pull": "error", "/pull": "error", "olm/": "error", "a/b/c": "error"} {
		var o Options
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		addClusterCatalogFlags(flags, &o)
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
