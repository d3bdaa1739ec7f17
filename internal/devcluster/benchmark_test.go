package devcluster

import (
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// BenchmarkStart measures the time from nothing to the first available Deployment, and the memory of all processes then
// (proportional set size). The aim is under 8 s and 800 MB on two cores:
//
//	go test ./internal/devcluster -run '^$' -bench Start -benchtime 5x
func BenchmarkStart(b *testing.B) {
	program := hostProgram(b)
	for _, mode := range []struct {
		name      string
		throwaway bool
	}{{"throwaway", true}, {"kept", false}} {
		b.Run(mode.name, func(b *testing.B) {
			var seconds, memory float64
			for b.Loop() {
				client := must.Value(Detach(b.Context(), Options{
					Name: "benchmark", DataDir: filepath.Join(b.TempDir(), "data"), Throwaway: mode.throwaway, Executable: program,
				}))(b)
				status := must.Value(client.Status(b.Context()))(b)
				seconds += status.StartSeconds
				memory += float64(status.MemoryBytes) / 1e6
				must.NoError(b, client.Stop(b.Context()))
			}
			b.ReportMetric(seconds/float64(b.N), "s/start")
			b.ReportMetric(memory/float64(b.N), "MB")
		})
	}
}
