package extensioncmd

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestForward: upgrade without flags makes an extension that was set back follow its catalogs again, with the version that it asked for.
func TestForward(t *testing.T) {
	for name, test := range map[string]struct {
		now   string
		flags []string
		want  string
	}{
		"as before":          {now: "1.0.0", want: ">=1"},
		"another version":    {now: "1.0.0", flags: []string{"--version", "2.x"}, want: "2.x"},
		"any version":        {now: "1.0.0", flags: []string{"--version", ""}},
		"chosen by somebody": {now: "3.x", want: "3.x"},
	} {
		t.Run(name, func(t *testing.T) {
			e := must.Value(ops.ExtensionOptions{Package: "kite", Namespace: "ops", Version: test.now}.Object())(t)
			e.Annotations = map[string]string{ops.RollbackToKey: "1", ops.VersionKey: "1.0.0; >=1"}
			c := cluster(t, e)
			out := must.Value(changed(t, c, "kite", test.flags...))(t)
			live := &olmv1.ClusterExtension{}
			must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "kite"}, live))
			if got := live.Spec.Source.Catalog.Version; got != test.want || len(live.Annotations) != 0 {
				t.Errorf("version %q, want %q; annotations %v", got, test.want, live.Annotations)
			}
			if want := "version: " + test.now + " -> "; test.now != test.want && !strings.Contains(out, want) {
				t.Errorf("%q is not told: %s", want, out)
			}
		})
	}
}
