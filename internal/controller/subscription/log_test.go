package subscription

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"

	"fairlead.dev/fairlead/test/must"
)

// TestTransitionsAreLogged: the transition of a Subscription is one line with its state or what it waits for, and a pass that changes nothing writes none.
func TestTransitionsAreLogged(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	var lines []string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	pass := func() string {
		t.Helper()
		lines = nil
		must.Value(w.controller.Reconcile(ctx, request))(t)
		return strings.Join(lines, "\n")
	}
	// settle makes passes until one logs nothing, and returns what they logged.
	settle := func() string {
		t.Helper()
		all := ""
		for range 10 {
			got := pass()
			if got == "" {
				return all
			}
			all += got + "\n"
		}
		t.Fatalf("every pass logs: %q", lines)
		return ""
	}
	logs := func(about, got, want string) {
		t.Helper()
		if strings.Count(got, want) != 1 {
			t.Errorf("%s logs:\n%s\nwant one line with %s", about, got, want)
		}
	}
	first := settle()
	logs("a plan", first, `"msg"="InstallPlan created"`)
	const line = `"msg"="status changed" "kind"="Subscription" "namespace"="` + ns + `" "name"="a" "generation"=0 `
	logs("a plan that is pending", first, line+`"type"="State" "status"="UpgradePending"`)
	logs("what it waits for", first, line+`"type"="Ready" "status"="False" "reason"="InstallPlanPending"`)
	w.carryOut(w.onlyPlan())
	logs("an operator that runs", settle(), line+`"type"="State" "status"="AtLatestKnown"`)
	must.Equal(t, "a pass that changes nothing logs", pass(), "")
}
