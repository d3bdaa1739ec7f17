package clusterserviceversion

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// series are the metrics of the controller, with their labels in the order of their names.
func (k *cluster) series() []string {
	k.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(k.c.counted)
	families, err := registry.Gather()
	must.NoError(k.t, err)
	var out []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue()
			if strings.HasSuffix(family.GetName(), "_seconds") {
				value = 0
			}
			out = append(out, fmt.Sprintf("%s{%s} %g", family.GetName(), strings.Join(labels, ","), value))
		}
	}
	slices.Sort(out)
	return out
}

func (k *cluster) counts(want ...string) {
	k.t.Helper()
	must.Equal(k.t, "series", k.series(), want)
}

// TestMetrics follow a CSV from its first look to its end; those of copies do not exist.
func TestMetrics(t *testing.T) {
	version := func(text string) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.Version.Version = semver.MustParse(text) }
	}
	copied := newCSV("copied")
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"}
	csv := newCSV("op.v1", version("1.0.0"))
	k := newCluster(t, copied, csv)
	k.pass("copied")
	k.counts("csv_count{} 0", "csv_upgrade_count{} 0")
	k.pass("op.v1")
	k.counts("csv_abnormal{op.v1,operators,Failed,NoOperatorGroup,1.0.0} 1", "csv_count{} 1",
		"csv_phase_since_timestamp_seconds{op.v1,operators,1.0.0} 0", "csv_succeeded{op.v1,operators,1.0.0} 0", "csv_upgrade_count{} 0")

	k.create(newGroup(ns))
	k.create(permissions(t, csv)...)
	k.pass("op.v1")
	k.rollOut()
	k.pass("op.v1")
	k.counts("csv_count{} 1", "csv_phase_since_timestamp_seconds{op.v1,operators,1.0.0} 0", "csv_succeeded{op.v1,operators,1.0.0} 1", "csv_upgrade_count{} 0")

	// A manager that starts reports the same without writing anything.
	k.c.counted = newCluster(t).c.counted
	k.wrote()
	k.pass("op.v1")
	k.counts("csv_count{} 1", "csv_phase_since_timestamp_seconds{op.v1,operators,1.0.0} 0", "csv_succeeded{op.v1,operators,1.0.0} 1", "csv_upgrade_count{} 0")
	must.Empty(t, "writes", k.wrote())

	k.create(newCSV("op.v2", replacing("op.v1"), version("2.0.0")))
	k.pass("op.v1")
	k.pass("op.v1")
	k.counts("csv_abnormal{op.v1,operators,Replacing,BeingReplaced,1.0.0} 1", "csv_count{} 1",
		"csv_phase_since_timestamp_seconds{op.v1,operators,1.0.0} 0", "csv_succeeded{op.v1,operators,1.0.0} 0", "csv_upgrade_count{} 1")
	k.delete(k.csv("op.v1"))
	k.pass("op.v1")
	k.pass("op.v1")
	k.counts("csv_count{} 0", "csv_upgrade_count{} 1")
}
