package registryv1

import (
	"encoding/json"
	"path"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// BenchmarkRender renders a bundle of 0.8 MB with four CRDs, two Deployments and fourteen webhooks.
func BenchmarkRender(b *testing.B) {
	real := loadReal(b, path.Join("opentelemetry-operator", "0.158.0"))
	o := Options{Namespace: "operators", Config: json.RawMessage(`{"deploymentConfig": {"nodeSelector": {"a": "b"}}}`)}
	b.ReportAllocs()
	for b.Loop() {
		must.Value(Render(real, o))(b)
	}
}
