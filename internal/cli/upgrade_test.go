package cli

import (
	"bytes"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func changed(t *testing.T, c client.Client, name string, flags ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	u := upgrade{streams: command.Streams{Out: &out, Err: &errs}}
	cmd := &cobra.Command{Use: "upgrade"}
	cmd.SetContext(t.Context())
	u.flags(cmd)
	must.NoError(t, cmd.ParseFlags(append(flags, "--wait", "0")))
	var err error
	if name == "sub" {
		err = u.subscription(cmd, c, client.ObjectKey{Namespace: "ops", Name: name})
	} else {
		err = u.extension(cmd, c, name)
	}
	return out.String(), err
}

func TestUpgrade(t *testing.T) {
	e := must.Value(ops.ExtensionOptions{Package: "kite", Namespace: "ops", Version: "1.x"}.Object())(t)
	c := cluster(t, e, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "sub"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "a"}})
	for _, test := range []struct {
		name  string
		flags []string
		want  string
		code  int
	}{
		{"kite", nil, "ClusterExtension kite: nothing to change\n", 0},
		{"kite", []string{"--version", "2.x", "--dry-run"}, "would change ClusterExtension kite: version: 1.x -> 2.x\n", 0},
		{"kite", []string{"--version", "2.x", "--channel", "a,b"}, "changed ClusterExtension kite: version: 1.x -> 2.x\nchanged ClusterExtension kite: channels: (nothing) -> a, b\n", 0},
		{"kite", []string{"--channel", ""}, "changed ClusterExtension kite: channels: a, b -> (nothing)\n", 0},
		{"kite", []string{"--approve"}, "", command.ExitUsage},
		{"none", nil, "", command.ExitFailed},
		{"sub", []string{"--channel", "b"}, "changed Subscription ops/sub: channel: a -> b\n", 0},
		{"sub", []string{"--version", "1"}, "", command.ExitUsage},
	} {
		if out, err := changed(t, c, test.name, test.flags...); out != test.want || command.Code(err) != test.code {
			t.Errorf("upgrade %s %q: %q, %v", test.name, test.flags, out, err)
		}
	}
}

// TestRollback goes back, and forward again.
func TestRollback(t *testing.T) {
	e := must.Value(ops.ExtensionOptions{Package: "kite", Namespace: "ops"}.Object())(t)
	e.UID = "kite-uid"
	objects := []client.Object{e}
	for n := int64(1); n <= 2; n++ {
		r := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: "kite", UID: e.UID, Namespace: "ops"}, Number: n, SystemNamespace: "olm",
			Annotations: map[string]string{olmv1.BundleVersionKey: []string{"1.0.0", "2.0.0"}[n-1]},
			Objects:     []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "ops"}}}}}))(t)
		objects = append(objects, r.Set)
		for _, s := range r.Secrets {
			objects = append(objects, s)
		}
	}
	c := cluster(t, objects...)
	run := func(r rollback, answer string) (string, int) {
		var out, errs bytes.Buffer
		r.Streams, r.Output = command.Streams{In: strings.NewReader(answer), Out: &out, Err: &errs}, command.OutputText
		err := r.run(t.Context(), c, "kite")
		return out.String(), command.Code(err)
	}
	pinned := func() string {
		must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "kite"}, e))
		return e.Annotations[ops.RollbackToKey] + " " + e.Spec.Source.Catalog.Version
	}
	if out, code := run(rollback{Change: command.Change{DryRun: true}}, ""); code != 0 || !strings.HasPrefix(out, "ClusterExtension kite: from revision 2 (2.0.0) back to revision 1 (1.0.0)\n") {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := run(rollback{}, "no\n"); code != command.ExitNo || pinned() != " " {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := run(rollback{to: 1}, "y\n"); code != 0 || pinned() != "1 1.0.0" {
		t.Errorf("%d: %s", code, out)
	}
	if out, err := changed(t, c, "kite", "--version", ""); err != nil || pinned() != " " || !strings.Contains(out, "annotation operators.fairlead.dev/rollback-to: 1 -> (nothing)") {
		t.Errorf("%s, %v", out, err)
	}
}

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
