package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// subscribedKite is a Subscription, and the InstallPlan that it refers to.
func subscribedKite(phase v1alpha1.InstallPlanPhase) []client.Object {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"},
		Spec: &v1alpha1.SubscriptionSpec{Package: "kite-operator", CatalogSource: "toys", CatalogSourceNamespace: "ops"}}
	sub.Status.InstalledCSV, sub.Status.InstallPlanRef = "kite.v2", &corev1.ObjectReference{Name: "install-1"}
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	plan.Spec.ClusterServiceVersionNames, plan.Status.Phase = []string{"kite.v2"}, phase
	plan.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "kite.v2", Replaces: "kite.v1"}}
	return []client.Object{sub, plan}
}

func extensionNamed(t *testing.T, name string) client.Object {
	e := must.Value(ops.ExtensionOptions{Package: name, Namespace: "ops"}.Object())(t)
	return e
}

// TestIsSubscription: the ClusterExtension of a name comes first, and a kind that may not be read does not count.
func TestIsSubscription(t *testing.T) {
	key := client.ObjectKey{Namespace: "ops", Name: "kite"}
	both := append(subscribedKite(v1alpha1.InstallPlanPhaseComplete), extensionNamed(t, "kite"))
	refuse := func(kind client.Object, failure error, objects ...client.Object) client.Client {
		return interceptor.NewClient(cluster(t, objects...).(client.WithWatch), interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			_, extension := o.(*olmv1.ClusterExtension)
			if _, is := kind.(*olmv1.ClusterExtension); is == extension {
				return failure
			}
			return c.Get(ctx, key, o, opts...)
		}})
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "kite", errors.New("no"))
	for name, test := range map[string]struct {
		c    client.Client
		api  string
		want bool
		err  string
	}{
		"a Subscription":                  {cluster(t, both[:2]...), "", true, ""},
		"both":                            {cluster(t, both...), "", false, ""},
		"both, and v0 is asked for":       {cluster(t, both...), "v0", true, ""},
		"a Subscription, v1 is asked for": {cluster(t, both[:2]...), "v1", false, ""},
		"neither":                         {cluster(t), "", false, ""},
		"extensions may not be read":      {refuse(&olmv1.ClusterExtension{}, forbidden, both...), "", true, ""},
		"nor is there a Subscription":     {refuse(&olmv1.ClusterExtension{}, forbidden), "", true, ""},
		"Subscriptions may not be read":   {refuse(&v1alpha1.Subscription{}, forbidden, both[:2]...), "", false, ""},
		"extensions cannot be read":       {refuse(&olmv1.ClusterExtension{}, errors.New("refused"), both...), "", false, "look for /kite: refused"},
		"the Subscription cannot be read": {refuse(&v1alpha1.Subscription{}, errors.New("refused"), both[:2]...), "", false, "look for ops/kite: refused"},
	} {
		is, err := isSubscription(t.Context(), test.c, test.api, key)
		if is != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %t, %v", name, is, err)
		}
	}
}

// TestHistoryAndRollbackOfASubscription: the first works, and the second says what works instead.
func TestHistoryAndRollbackOfASubscription(t *testing.T) {
	key := client.ObjectKey{Namespace: "ops", Name: "kite"}
	c := cluster(t, append(subscribedKite(v1alpha1.InstallPlanPhaseComplete), extensionNamed(t, "wind"))...)
	var out bytes.Buffer
	must.NoError(t, writeHistory(t.Context(), command.Streams{Out: &out}, c, command.OutputText, "", key))
	must.Contain(t, "history", out.String(), "install-1", "installed: kite.v2\n")
	out.Reset()
	must.NoError(t, writeHistory(t.Context(), command.Streams{Out: &out}, c, command.OutputText, "", client.ObjectKey{Namespace: "ops", Name: "wind"}))
	must.Equal(t, "history of an extension", out.String(), "ClusterExtension wind has no revision yet\n")
	must.Fail(t, "none", writeHistory(t.Context(), command.Streams{Out: &out}, c, command.OutputText, "", client.ObjectKey{Namespace: "ops", Name: "none"}), "read ClusterExtension none: there is none of that name")
	for _, want := range []string{"roll back ops/kite: it is a Subscription of the v0 API", "fairlead hold kite -n ops",
		"fairlead uninstall kite -n ops, then fairlead install kite-operator -n ops --starting-csv kite.v1 --manual", "fairlead migrate kite -n ops"} {
		must.Fail(t, "rollback", noWayBack(t.Context(), c, key), want)
	}
	must.Fail(t, "rollback of nothing", noWayBack(t.Context(), c, client.ObjectKey{Namespace: "ops", Name: "none"}), "read Subscription ops/none")
}

// someServer is a cluster of a version.
type someServer struct{}

func (someServer) ServerVersion() (*apimachineryversion.Info, error) {
	return &apimachineryversion.Info{GitVersion: "v1.36.0"}, nil
}

const toysContent = `
{"schema":"olm.package","name":"kite-operator","defaultChannel":"stable"}
{"schema":"olm.channel","package":"kite-operator","name":"stable","entries":[{"name":"kite.v2"},{"name":"kite.v3","replaces":"kite.v2"}]}
{"schema":"olm.bundle","package":"kite-operator","name":"kite.v2","image":"registry.example.com/kite:v2","properties":[{"type":"olm.package","value":{"packageName":"kite-operator","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"kite-operator","name":"kite.v3","image":"registry.example.com/kite:v3","properties":[{"type":"olm.package","value":{"packageName":"kite-operator","version":"3.0.0"}}]}
`

// TestPlanOfASubscription is the InstallPlan that waits, or the one that would be written, with the exit code of plans.
func TestPlanOfASubscription(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "catalog.json"), []byte(toysContent), 0o600))
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite.v2"}, Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded}}
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "toys"}}
	for name, test := range map[string]struct {
		objects []client.Object
		channel string
		code    int
		want    string
	}{
		"waits":        {subscribedKite(v1alpha1.InstallPlanPhaseRequiresApproval), "", changesCode, "this InstallPlan is next\n\nInstallPlan ops/install-1 RequiresApproval"},
		"would be":     {append(subscribedKite(v1alpha1.InstallPlanPhaseComplete), csv, source), "", changesCode, "kite.v3   3.0.0    stable   ops/toys"},
		"cannot be":    {append(subscribedKite(v1alpha1.InstallPlanPhaseComplete)[:1], source), "stabel", command.ExitFailed, "no InstallPlan can be made"},
		"is not there": {nil, "", command.ExitFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.channel != "" {
				sub := test.objects[0].(*v1alpha1.Subscription)
				sub.Spec.Channel, sub.Status = test.channel, v1alpha1.SubscriptionStatus{}
			}
			c := cluster(t, test.objects...)
			var out, errs bytes.Buffer
			p := &extensionPlan{streams: command.Streams{Out: &out, Err: &errs}, output: command.OutputText, global: "olm"}
			r := reach{Cluster: preview.Cluster{Reader: c, Server: someServer{}}, client: c, config: &rest.Config{}, namespace: "ops"}
			err := p.subscription(t.Context(), r, []preview.Catalog{{Ref: catalog.Ref{Namespace: "ops", Name: "toys"}, Source: dir}}, "kite")
			if code := command.Code(err); code != test.code || !strings.Contains(out.String(), test.want) {
				t.Errorf("exit code %d, %v\n%s%s", code, err, out.String(), errs.String())
			}
		})
	}
}

// TestCommandOfThePlanOfASubscription asks the same question once more.
func TestCommandOfThePlanOfASubscription(t *testing.T) {
	key := client.ObjectKey{Namespace: "ops", Name: "kite"}
	must.Equal(t, "without flags", (&extensionPlan{global: "olm"}).againSubscription(key), "fairlead plan kite -n ops")
	p := &extensionPlan{global: "catalogs", api: apiV0, catalogs: []string{"ops/toys=my toys"}}
	must.Equal(t, "with flags", p.againSubscription(key), "fairlead plan kite --catalog 'ops/toys=my toys' -n ops --api v0 --global-namespace catalogs")
}

// TestMissingRolesOfASubscription: nothing but the roles, a word on standard error where none is missing, and an error where no rights were examined.
func TestMissingRolesOfASubscription(t *testing.T) {
	for name, test := range map[string]struct {
		plan           preview.SubscriptionPlan
		out, errs, err string
	}{
		"missing":                    {preview.SubscriptionPlan{MissingRoles: "kind: Role\n"}, "kind: Role\n", "", ""},
		"missing, and not all known": {preview.SubscriptionPlan{MissingRoles: "kind: Role\n", NotExamined: "there may be more"}, "kind: Role\n", "note: there may be more\n", ""},
		"none":                       {preview.SubscriptionPlan{Subscription: "ops/kite"}, "", "Subscription ops/kite: no role is missing\n", ""},
		"not examined": {preview.SubscriptionPlan{Subscription: "ops/kite", NotExamined: "OperatorGroup ops/all names no service account"}, "", "",
			"tell which roles are missing for Subscription ops/kite: OperatorGroup ops/all names no service account"},
	} {
		var out, errs bytes.Buffer
		p := &extensionPlan{streams: command.Streams{Out: &out, Err: &errs}, output: command.OutputText, roles: true}
		err := p.answer(&test.plan)
		must.Equal(t, name, out.String(), test.out)
		must.Equal(t, name, errs.String(), test.errs)
		if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%s: %v", name, err)
		}
	}
}
