package metrics

import (
	"slices"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

func TestClusterServiceVersions(t *testing.T) {
	state := func(version, phase, reason string) CSVState {
		return CSVState{Version: version, Phase: phase, Reason: reason, Succeeded: phase == "Succeeded", Since: time.Unix(1893553445, 0)}
	}
	pending, failed, runs := state("1.0.0", "Pending", "RequirementsNotMet"), state("1.0.0", "Failed", "InstallCheckFailed"), state("1.0.0", "Succeeded", "InstallSucceeded")
	since := func(labels string) string { return `csv_phase_since_timestamp_seconds{` + labels + `} 1.893553445e+09` }
	const op = `name="op",namespace="a",version="1.0.0"`
	abnormal := `csv_abnormal{name="op",namespace="a",phase="Failed",reason="InstallCheckFailed",version="1.0.0"} 1`
	base := []string{"# TYPE csv_count gauge", "# TYPE csv_upgrade_count counter"}
	stateful := append(base[:2:2], "# TYPE csv_succeeded gauge", "# TYPE csv_phase_since_timestamp_seconds gauge")
	wrong := append(stateful[:4:4], "# TYPE csv_abnormal gauge")
	for name, test := range map[string]struct {
		do   func(m *ClusterServiceVersions)
		want []string
	}{
		"nothing": {func(*ClusterServiceVersions) {}, append(base[:2:2], "csv_count 0", "csv_upgrade_count 0")},
		"one that runs, after all": {
			func(m *ClusterServiceVersions) {
				m.Seen("a", "op", pending)
				m.Seen("a", "op", failed)
				m.Seen("a", "op", runs)
			},
			append(stateful[:4:4], "csv_count 1", "csv_upgrade_count 0", `csv_succeeded{`+op+`} 1`, since(op)),
		},
		"one that failed": {
			func(m *ClusterServiceVersions) {
				m.Seen("a", "op", runs)
				m.Seen("a", "op", failed)
				m.Seen("a", "op", failed)
			},
			append(wrong[:5:5], "csv_count 1", "csv_upgrade_count 0", `csv_succeeded{`+op+`} 0`, abnormal, since(op)),
		},
		"another version of the same name": {
			func(m *ClusterServiceVersions) {
				m.Seen("a", "op", state("0.9.0", "Pending", "x"))
				m.Seen("a", "op", failed)
			},
			append(wrong[:5:5], "csv_count 1", "csv_upgrade_count 0", `csv_succeeded{`+op+`} 0`, abnormal, since(op)),
		},
		"since when is not known": {
			func(m *ClusterServiceVersions) { m.Seen("a", "op", CSVState{Version: "1.0.0", Succeeded: true}) },
			append(base[:2:2], "# TYPE csv_succeeded gauge", "csv_count 1", "csv_upgrade_count 0", `csv_succeeded{`+op+`} 1`),
		},
		"gone, and an upgrade that is remembered": {
			func(m *ClusterServiceVersions) {
				m.Seen("a", "op", failed)
				m.Upgraded()
				m.Gone("a", "op")
				m.Gone("a", "never")
			},
			append(base[:2:2], "csv_count 0", "csv_upgrade_count 1"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewClusterServiceVersions()
			test.do(m)
			slices.Sort(test.want)
			must.Equal(t, "scrape", scrape(t, m), test.want)
		})
	}
}
