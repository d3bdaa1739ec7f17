package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"fairlead.dev/fairlead/test/must"
)

func TestClusterObjectSets(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m, again := NewClusterObjectSets("RollingOut", "Succeeded"), NewClusterObjectSets("RollingOut", "Succeeded")
	for _, m := range []*ClusterObjectSets{m, again} { // as two managers of a process
		must.NoError(t, m.Register(registry))
	}
	m.Observe("a", "RollingOut", true, false)
	m.Observe("b", "RollingOut", false, false)
	m.Observe("b", "Succeeded", false, true)
	m.Observe("c", "Succeeded", true, true)
	m.Observe("c", "Succeeded", true, true)
	m.Observe("d", StateGoing, true, true)
	m.Forget("d")
	m.Forget("never seen")
	m.RolledOut(90 * time.Second)
	var none *ClusterObjectSets
	none.Observe("a", "RollingOut", true, true)
	none.RolledOut(time.Second)
	none.Forget("a")
	want := `
# HELP fairlead_clusterobjectsets Number of ClusterObjectSets, by the reason of their condition Progressing
# TYPE fairlead_clusterobjectsets gauge
fairlead_clusterobjectsets{state="RollingOut"} 1
fairlead_clusterobjectsets{state="Succeeded"} 2
fairlead_clusterobjectsets{state="TakingOut"} 0
# HELP fairlead_clusterobjectsets_unavailable Number of active ClusterObjectSets of which objects are not available, by whether they were complete before
# TYPE fairlead_clusterobjectsets_unavailable gauge
fairlead_clusterobjectsets_unavailable{rolled_out="false"} 1
fairlead_clusterobjectsets_unavailable{rolled_out="true"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "fairlead_clusterobjectsets", "fairlead_clusterobjectsets_unavailable"); err != nil {
		t.Error(err)
	}
	families := must.Value(registry.Gather())(t)
	for _, f := range families {
		if f.GetName() == "fairlead_clusterobjectset_rollout_duration_seconds" {
			if h := f.GetMetric()[0].GetHistogram(); h.GetSampleCount() != 1 || h.GetSampleSum() != 90 {
				t.Errorf("%d roll-outs took %v seconds", h.GetSampleCount(), h.GetSampleSum())
			}
			return
		}
	}
	t.Error("the time of roll-outs is not measured")
}
