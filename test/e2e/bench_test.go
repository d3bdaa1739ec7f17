package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// BenchmarkPublicOperators installs public operators, all at once, in one namespace with a global OperatorGroup, and prints the
// seconds from the creation of the Subscriptions until all have succeeded. The figures to beat were taken on the same kind of cluster
// and machine, two cores.
func BenchmarkPublicOperators(b *testing.B) {
	ten := []string{"argocd-operator", "cert-manager", "opentelemetry-operator", "keycloak-operator", "grafana-operator", "rabbitmq-cluster-operator",
		"rabbitmq-messaging-topology-operator", "external-secrets-operator", "strimzi-kafka-operator", "infinispan"}
	cases := []struct {
		name     string
		packages []string
		toBeat   string
	}{
		{"one", []string{"grafana-operator"}, "6.6 s; our aim is 2 s"},
		{"four", []string{"grafana-operator", "rabbitmq-cluster-operator", "rabbitmq-messaging-topology-operator", "infinispan"}, "16.7 s; our aim is 4 s"},
		{"ten", ten, "never: the plan exceeds the API server's request limit; our aim is 10 s"},
	}
	dir := b.TempDir()
	publicdata.Each(b, publicdata.Bundles, func(name string, content func() []byte) {
		file := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "bundles/")))
		must.NoError(b, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(b, os.WriteFile(file, content(), 0o644))
	})
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			var seconds, plan float64
			for b.Loop() {
				cmd := exec.Command(filepath.Join(program, "fairlead"), "demo", "--exit", "-o", "json", "--data-dir", filepath.Join(b.TempDir(), "cluster"),
					"--bundles", dir, "--install", strings.Join(c.packages, ","))
				var out, told bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &told
				if err := cmd.Run(); err != nil {
					b.Fatalf("%v\n%s", err, told.String())
				}
				var result demoResult
				must.NoError(b, json.Unmarshal(out.Bytes(), &result))
				if len(result.Operators) != len(c.packages) {
					b.Fatalf("%d operators are installed, want %d", len(result.Operators), len(c.packages))
				}
				seconds += result.Seconds["installed"]
				plan = max(plan, float64(result.LargestInstallPlanBytes))
			}
			b.ReportMetric(seconds/float64(b.N), "s-installed")
			b.ReportMetric(plan, "plan-bytes")
			b.Log("to beat: " + c.toBeat)
		})
	}
}

type demoResult struct {
	Seconds                 map[string]float64
	Operators               []struct{ Name string }
	LargestInstallPlanBytes int
}
