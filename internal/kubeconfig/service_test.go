package kubeconfig

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestServiceOf: which hosts are Services of the cluster.
func TestServiceOf(t *testing.T) {
	for host, want := range map[string]string{
		"registry.cat.svc":                "cat/registry",
		"registry.cat.svc.":               "cat/registry",
		"Registry.Cat.SVC":                "cat/registry",
		"registry.cat.svc.cluster.local":  "cat/registry",
		"registry.cat.svc.cluster.local.": "cat/registry",
		"registry.cat.svc.example.com":    "",
		"a.b.svc.c.cluster.local":         "",
		"pod.registry.cat.svc":            "",
		"registry.cat":                    "",
		"registry.cat.cluster.local":      "",
		"cat.svc":                         "",
		"svc":                             "",
		"..svc":                           "",
		".cat.svc":                        "",
		"registry..svc":                   "",
		"a_b.cat.svc":                     "",
		"registry.example.com":            "",
		"10.96.0.1":                       "",
		"":                                "",
	} {
		got, ok := ServiceOf(host)
		must.Equal(t, "whether "+host+" is one", ok, want != "")
		if ok {
			must.Equal(t, host, got.String(), want)
		}
	}
}
