package rollout

import (
	"fmt"
	"testing"
)

// BenchmarkApply is 300 objects in a fake API server, which does the work of a real one in the same process: first written, then
// found as desired.
func BenchmarkApply(b *testing.B) {
	var p Phase
	for i := range 300 {
		u := object(b, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {labels: {olm.owner: op.v1, olm.managed: "true"}}
rules:
- {apiGroups: [""], resources: [pods, services], verbs: [get, list, watch]}
- {apiGroups: [apps], resources: [deployments], verbs: ["*"]}`)
		u.SetName(fmt.Sprintf("op.v1-%d", i))
		p.Objects = append(p.Objects, Object{Wanted: u})
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			c := newCluster(b)
			b.StartTimer()
			if r := engine(c).Apply(b.Context(), []Phase{p}); !r.Complete() {
				b.Fatal(r.Err())
			}
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		c := newCluster(b)
		engine(c).Apply(b.Context(), []Phase{p})
		c.Taken()
		for b.Loop() {
			if r := engine(c).Apply(b.Context(), []Phase{p}); !r.Complete() {
				b.Fatal(r.Err())
			}
		}
		if n := len(c.Taken()); n != 0 {
			b.Fatalf("%d writes", n)
		}
	})
}
