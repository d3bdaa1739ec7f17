package operator

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"fairlead.dev/fairlead/test/must"
)

// TestTransitionsAreLogged: another number of components is one line, and a pass that changes nothing writes none.
func TestTransitionsAreLogged(t *testing.T) {
	k := newCluster(t, installed()...)
	var lines []string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	pass := func() {
		t.Helper()
		must.Value(k.c.Reconcile(ctx, ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}))(t)
	}
	for range 3 {
		pass()
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `"msg"="status changed" "kind"="Operator" "namespace"="" "name"="`+name+`"`) || !strings.Contains(lines[0], `"type"="Components" "status"="17"`) {
		t.Errorf("the lines are %q", lines)
	}
	must.NoError(t, k.client.Delete(t.Context(), deployment("manager")))
	pass()
	pass()
	if len(lines) != 2 || !strings.Contains(lines[1], `"type"="Components" "status"="16"`) {
		t.Errorf("the lines after one component is gone are %q", lines)
	}
}
