package tenancy

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

func withModes(modes ...string) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{}
	for _, m := range modes {
		name, no := strings.CutPrefix(m, "!")
		csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: v1alpha1.InstallModeType(name), Supported: !no})
	}
	return csv
}

func TestSupports(t *testing.T) {
	tests := map[string]struct {
		modes   []string
		targets string
		missing string
	}{
		"listed":                         {[]string{"SingleNamespace"}, "x", ""},
		"not listed":                     {[]string{"OwnNamespace"}, "x", "SingleNamespace "},
		"several imply one":              {[]string{"MultiNamespace"}, "x", ""},
		"several do not imply its own":   {[]string{"MultiNamespace"}, "a-ns", "OwnNamespace "},
		"what is denied is not implied":  {[]string{"MultiNamespace", "!SingleNamespace"}, "x", "SingleNamespace "},
		"what is denied implies nothing": {[]string{"!MultiNamespace"}, "x", "SingleNamespace "},
		"all imply nothing":              {[]string{"AllNamespaces"}, "x", "SingleNamespace "},
		"one does not imply several":     {[]string{"SingleNamespace"}, "x,y", "MultiNamespace "},
		"twice":                          {[]string{"SingleNamespace", "SingleNamespace"}, "x", "InstallModes contain "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := Supports(withModes(test.modes...), group("a", test.targets, ""))
			if (err == nil) != (test.missing == "") || err != nil && !strings.HasPrefix(err.Error(), test.missing) {
				t.Errorf("got %v, want an error that begins with %q", err, test.missing)
			}
		})
	}
}

// TestAdvice: the group that is advised is one that the operator supports, where it can be named in full.
func TestAdvice(t *testing.T) {
	tests := map[string]struct {
		modes []string
		want  []string
	}{
		"own":     {[]string{"OwnNamespace", "AllNamespaces"}, []string{`"targetNamespaces":["here"]`, `"name":"g","namespace":"here"`, "supports AllNamespaces, OwnNamespace"}},
		"all":     {[]string{"AllNamespaces"}, []string{`"spec":{"selector":null,"targetNamespaces":null}`}},
		"one":     {[]string{"SingleNamespace"}, []string{`["<namespace to watch>"]`}},
		"several": {[]string{"MultiNamespace", "!SingleNamespace"}, []string{`["<namespace to watch>","<another one>"]`}},
		"none":    {[]string{"!AllNamespaces"}, []string{"no install mode at all"}},
		"twice":   {[]string{"AllNamespaces", "AllNamespaces"}, []string{"more than once"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Advice(withModes(test.modes...), "here", "g")
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q does not say %q", got, want)
				}
			}
		})
	}
}
