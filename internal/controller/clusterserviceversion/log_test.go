package clusterserviceversion

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/test/must"
)

// TestTransitionsAreLogged: the transition of a phase is one line with its reason, and a pass that changes nothing writes none.
func TestTransitionsAreLogged(t *testing.T) {
	k := newCluster(t, newGroup(""), newCSV("op.v1", withoutAccounts))
	var lines []string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	pass := func() string {
		t.Helper()
		lines = nil
		k.listAPIs()
		must.Value(k.c.Reconcile(ctx, reconcile.Request{NamespacedName: key(ns, "op.v1")}))(t)
		return strings.Join(lines, "\n")
	}
	settled := func() {
		t.Helper()
		for range 10 {
			if pass() == "" {
				return
			}
		}
		t.Fatalf("every pass logs: %q", lines)
	}
	const line = `"msg"="status changed" "kind"="ClusterServiceVersion"`
	if first := pass(); strings.Count(first, line) != 1 || strings.Count(first, `"type"="Phase"`) != 1 {
		t.Errorf("the first pass logs:\n%s", first)
	}
	settled()
	must.Equal(t, "a pass that changes nothing logs", pass(), "")
	k.rollOut()
	if got := pass(); strings.Count(got, line) != 1 || !strings.Contains(got, `"type"="Phase" "status"="Succeeded" "reason"="InstallSucceeded"`) {
		t.Errorf("a success logs:\n%s", got)
	}
	must.Equal(t, "a pass after the success logs", pass(), "")
}
