package bundle

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// BenchmarkLoadSteps loads a bundle of 0.8 MB, with four CRDs, and makes the steps of its InstallPlan.
func BenchmarkLoadSteps(b *testing.B) {
	files := publicdata.BundleTrees(b)["opentelemetry-operator/0.158.0"]
	if files == nil {
		b.Fatal("the bundle is not among the public ones")
	}
	b.ReportAllocs()
	for b.Loop() {
		loaded := must.Value(Load(files))(b)
		must.Value(Steps(loaded, StepTarget{Namespace: "operators"}))(b)
	}
}

// BenchmarkToCatalog writes the same bundle for a catalog.
func BenchmarkToCatalog(b *testing.B) {
	loaded := loadReal(b, "opentelemetry-operator/0.158.0")
	b.ReportAllocs()
	for b.Loop() {
		must.Value(loaded.ToCatalog("registry.example.com/bundle:v1"))(b)
	}
}
