package install

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// withConsole is what kubectl apply -k makes of a kustomization as docs/console-access.md has it.
func withConsole(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	return withComponent(t, "console")
}

// consoleOn sets values of the console.
func consoleOn(more map[string]any) func(map[string]any) {
	return func(v map[string]any) {
		c := v["console"].(map[string]any)
		c["enabled"] = true
		for key, value := range more {
			c[key] = value
		}
	}
}

// TestTheChartMakesTheConsole: the value console.enabled makes what the component makes, and neither has a right more for the manager.
func TestTheChartMakesTheConsole(t *testing.T) {
	all := withConsole(t)
	theSame(t, slices.Concat(all, harness.Kustomized(t, filepath.Join(config, "defaults"))), chart(t, consoleOn(nil)))
	off := byName(t, harness.Kustomized(t, config))
	on := byName(t, all)
	for name, object := range on {
		if off[name] == nil {
			must.Equal(t, "what is there besides", name, "Service olm/"+manager.ConsoleService)
			continue
		}
		if kind, _, _ := strings.Cut(name, " "); kind != "Deployment" && kind != "NetworkPolicy" {
			must.Equal(t, name, object, off[name])
		}
	}
	must.Equal(t, "objects", len(on), len(off)+1)
}

// TestTheConsoleIsOff: without being asked for, the chart and the manifests speak of no console.
func TestTheConsoleIsOff(t *testing.T) {
	for name, all := range map[string][]*unstructured.Unstructured{"the chart": chart(t, nil), "the manifests": harness.Kustomized(t, config)} {
		for object, content := range byName(t, all) {
			if text := string(must.Value(yaml.Marshal(content))(t)); strings.Contains(text, "--console") || strings.Contains(text, "9443") || strings.Contains(object, manager.ConsoleService) {
				t.Errorf("%s: %s speaks of a console: %s", name, object, text)
			}
		}
	}
}

// TestValuesOfTheConsole: hosts, certificates and the provider, and that they say nothing where the console is off.
func TestValuesOfTheConsole(t *testing.T) {
	more := map[string]any{"hosts": []any{"console.example.com"}, "tlsSecret": "console-cert",
		"oidc": map[string]any{"issuer": "https://dex.example.com", "clientID": "fairlead", "clientSecret": "console-client", "caConfigMap": "dex-ca", "scopes": []any{"groups", "offline_access"}}}
	text := string(must.Value(yaml.Marshal(byName(t, chart(t, consoleOn(more)))["Deployment olm/fairlead-manager"]))(t))
	for _, want := range []string{"- --console\n", "- --console-address=:9443\n", "- --console-host=console.example.com\n", "- --console-tls-cert=/etc/fairlead/console/tls.crt\n", "- --console-tls-key=/etc/fairlead/console/tls.key\n",
		"- --console-oidc-issuer=https://dex.example.com\n", "- --console-oidc-client-id=fairlead\n", "- --console-oidc-scopes=groups\n", "- --console-oidc-scopes=offline_access\n",
		"- --console-oidc-client-secret-file=/etc/fairlead/oidc/client-secret\n", "- --console-oidc-ca-file=/etc/fairlead/oidc-ca/ca.crt\n", "containerPort: 9443",
		"secretName: console-cert", "secretName: console-client", "name: dex-ca", "mountPath: /etc/fairlead/console\n", "mountPath: /etc/fairlead/oidc\n", "mountPath: /etc/fairlead/oidc-ca\n"} {
		must.Contain(t, "the Deployment", text, want)
	}
	off := chart(t, func(v map[string]any) {
		consoleOn(more)(v)
		v["console"].(map[string]any)["enabled"] = false
	})
	must.Equal(t, "what the values make where the console is off", byName(t, off), byName(t, chart(t, nil)))
}
