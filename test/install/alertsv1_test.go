package install

import (
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/test/must"

	"github.com/prometheus/client_golang/prometheus"
)

// TestMetricsOfAlertStatesV1: the same for a ClusterExtension with its revisions, and for a ClusterCatalog.
func TestMetricsOfAlertStatesV1(t *testing.T) {
	type conditions = []metrics.Condition
	const yes, no, unknown = "True", "False", "Unknown"
	installed := metrics.Condition{Type: olmv1.TypeInstalled, Status: yes, Reason: olmv1.ReasonSucceeded}
	reached := metrics.Condition{Type: olmv1.TypeProgressing, Status: yes, Reason: olmv1.ReasonSucceeded}
	rolling := metrics.Condition{Type: olmv1.TypeProgressing, Status: yes, Reason: olmv1.ReasonRollingOut}
	retrying := metrics.Condition{Type: olmv1.TypeProgressing, Status: yes, Reason: olmv1.ReasonRetrying}
	available := metrics.Condition{Type: olmv1.TypeAvailable, Status: yes, Reason: olmv1.ReasonProbesSucceeded}
	down := metrics.Condition{Type: olmv1.TypeAvailable, Status: no, Reason: olmv1.ReasonProbeFailure}
	type set struct{ unavailable, rolledOut bool }
	for state, one := range map[string]struct {
		conditions conditions
		sets       []set
	}{
		"installed":  {conditions{installed, reached, available}, []set{{false, true}}},
		"installing": {conditions{{Type: olmv1.TypeInstalled, Status: no, Reason: olmv1.ReasonAbsent}, rolling, down}, []set{{true, false}}},
		"unresolved": {conditions{{Type: olmv1.TypeInstalled, Status: no, Reason: olmv1.ReasonFailed}, retrying}, nil},
		"unread":     {conditions{{Type: olmv1.TypeInstalled, Status: unknown, Reason: olmv1.ReasonFailed}, retrying}, []set{{false, true}}},
		"upgrading":  {conditions{installed, rolling, available}, []set{{false, true}, {true, false}}},
		"retrying":   {conditions{installed, retrying, available}, []set{{false, true}}},
		"blocked":    {conditions{installed, {Type: olmv1.TypeProgressing, Status: no, Reason: olmv1.ReasonBlocked}, available}, []set{{false, true}}},
		"down":       {conditions{installed, reached, down}, []set{{true, true}}},
		"removed":    {nil, nil},
	} {
		registry := prometheus.NewRegistry()
		extensions, sets := metrics.NewConditions(olmv1.ClusterExtensionKind), metrics.NewClusterObjectSets()
		registry.MustRegister(extensions)
		must.NoError(t, sets.Register(registry))
		if one.conditions != nil {
			extensions.Seen("o", one.conditions...)
		}
		for i, s := range one.sets {
			sets.Observe(string(rune('a'+i)), "", s.unavailable, s.rolledOut)
		}
		kept(t, "extension-"+state, registry)
	}
	for state, all := range map[string]conditions{
		"serving":     {reached, {Type: olmv1.TypeServing, Status: yes, Reason: olmv1.ReasonAvailable}},
		"stale":       {retrying, {Type: olmv1.TypeServing, Status: yes, Reason: olmv1.ReasonAvailable}},
		"not-serving": {retrying, {Type: olmv1.TypeServing, Status: no, Reason: olmv1.ReasonUnavailable}},
		"off":         {reached, {Type: olmv1.TypeServing, Status: no, Reason: olmv1.ReasonUserSpecifiedUnavailable}},
		"removed":     nil,
	} {
		registry := prometheus.NewRegistry()
		catalogs := metrics.NewConditions(olmv1.ClusterCatalogKind)
		registry.MustRegister(catalogs)
		if all != nil {
			catalogs.Seen("c", all...)
		}
		kept(t, "catalog-"+state, registry)
	}
}
