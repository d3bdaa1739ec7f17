package clusterextension

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"

	"fairlead.dev/fairlead/test/must"
)

// TestLog: each revision, transition and refusal is one line with its reason, and a pass that changes nothing writes none.
func TestLog(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0"))
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	pass := func() string {
		t.Helper()
		lines = nil
		must.Value(w.controller.Reconcile(ctrl.LoggerInto(t.Context(), logger), requestFor("my")))(t)
		return strings.Join(lines, "\n")
	}
	first := pass()
	for _, want := range []string{`"msg"="revision written" "kind"="ClusterExtension" "generation"=`, `"revision"="my-1" "bundle"="a.v1.0.0" "reason"="catalog cat offers a.v1.0.0"`,
		`"type"="Progressing" "status"="True" "reason"="RollingOut"`} {
		must.Equal(t, "the first pass does not log", strings.Count(first, want), 1)
	}
	w.settle("my")
	must.Equal(t, "a pass that changes nothing logs", pass(), "")
	w.configure("my", `{"bad":1}`)
	if got := pass(); !strings.Contains(got, `"type"="Progressing" "status"="False" "reason"="InvalidConfiguration"`) || strings.Contains(got, "revision written") {
		t.Errorf("a refusal logs:\n%s", got)
	}
}
