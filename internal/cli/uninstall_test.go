package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/fakeapi"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestUninstall(t *testing.T) {
	for name, test := range map[string]struct {
		removal removal
		answer  string
		gone    bool
		code    int
		out     string
	}{
		"yes":           {answer: "y\n", gone: true, out: "Remove ClusterExtension kite? [y/N]"},
		"no":            {answer: "n\n", code: command.ExitNo, out: "Remove ClusterExtension kite? [y/N]"},
		"nobody there":  {code: command.ExitNo},
		"asked before":  {removal: removal{Change: command.Change{Yes: true}}, gone: true, out: "✓ ClusterExtension kite is removed"},
		"a dry run":     {removal: removal{Change: command.Change{DryRun: true}}, out: "Goes:\n"},
		"for a program": {removal: removal{Change: command.Change{DryRun: true, Output: command.OutputJSON}}, out: `"api": "v1"`},
	} {
		t.Run(name, func(t *testing.T) {
			e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kite"}}
			c := cluster(t, e)
			var out, errs bytes.Buffer
			r := test.removal
			if r.timeout = time.Minute; r.Output == "" {
				r.Output = command.OutputText
			}
			r.Streams, r.options = command.Streams{In: strings.NewReader(test.answer), Out: &out, Err: &errs}, ops.UninstallOptions{Name: "kite"}
			err := r.run(t.Context(), c, apiV1)
			if command.Code(err) != test.code || !strings.Contains(out.String(), test.out) {
				t.Errorf("exit code %d, want %d: %v\n%s", command.Code(err), test.code, err, &out)
			}
			if left := c.Get(t.Context(), client.ObjectKey{Name: "kite"}, e) == nil; left == test.gone {
				t.Errorf("is there: %t", left)
			}
		})
	}
}

func TestWhichAPI(t *testing.T) {
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kite"}}
	s := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}}
	for name, test := range map[string]struct {
		objects   []client.Object
		wanted    string
		want, err string
	}{
		"neither":         {want: apiV0},
		"an extension":    {objects: []client.Object{e}, want: apiV1},
		"a Subscription":  {objects: []client.Object{s}, want: apiV0},
		"both":            {objects: []client.Object{e, s}, err: "there are ClusterExtension kite and Subscription ops/kite; say which one is meant with --api v1 or --api v0"},
		"both, and asked": {objects: []client.Object{e, s}, wanted: apiV1, want: apiV1},
	} {
		t.Run(name, func(t *testing.T) {
			tenant, err := apiOf(t.Context(), fakeapi.Tenant(cluster(t, test.objects...).(client.WithWatch), "ops"), test.wanted, "ops", "kite")
			if err != nil || test.wanted == "" && tenant != apiV0 {
				t.Errorf("for a user of the namespace: %q, %v", tenant, err)
			}
			got, err := apiOf(t.Context(), cluster(t, test.objects...), test.wanted, "ops", "kite")
			if got != test.want || test.err != "" && (err == nil || err.Error() != test.err) || test.err == "" && err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
