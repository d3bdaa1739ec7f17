package cli

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// kiteManifest is package kite in CatalogSource olm/toys: its default channel is stable, its bundle suggests namespace kites.
func kiteManifest() *packagesv1.PackageManifest {
	m := &packagesv1.PackageManifest{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "kite"}}
	m.Status = packagesv1.PackageManifestStatus{PackageName: "kite", CatalogSource: "toys", CatalogSourceNamespace: "olm", DefaultChannel: "stable", Channels: []packagesv1.PackageChannel{
		{Name: "stable", CurrentCSV: "kite.v1.0.0", Entries: []packagesv1.ChannelEntry{{Name: "kite.v1.0.0", Version: "1.0.0"}},
			CurrentCSVDesc: packagesv1.CSVDescription{Annotations: map[string]string{"operatorframework.io/suggested-namespace": "kites"}}},
		{Name: "fast", CurrentCSV: "kite.v2.0.0", Entries: []packagesv1.ChannelEntry{{Name: "kite.v2.0.0", Version: "2.0.0"}}},
	}}
	return m
}

// subscribed runs `fairlead install` by the v0 API. Whatever Subscription is read has the status.
func subscribed(t *testing.T, both bothAPIs, i subscriptionInstall, status v1alpha1.SubscriptionStatus, objects ...client.Object) (out, errs string, c client.Client, err error) {
	t.Helper()
	toys := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "toys"}}
	c = interceptor.NewClient(cluster(t, append(objects, toys, kiteManifest())...).(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, o, options...)
			if sub, is := o.(*v1alpha1.Subscription); is && err == nil {
				sub.Status = status
			}
			return err
		}})
	both.Output = cmp.Or(both.Output, command.OutputText)
	both.catalogs, i.options.GlobalNamespace = inCluster(c), "olm"
	var o, e bytes.Buffer
	err = i.run(t.Context(), command.Streams{Out: &o, Err: &e}, c, both)
	return o.String(), e.String(), c, err
}

func subscriptionStatus(ready, stalled corev1.ConditionStatus, reason string) v1alpha1.SubscriptionStatus {
	return v1alpha1.SubscriptionStatus{InstalledCSV: "kite.v1.0.0", InstallPlanRef: &corev1.ObjectReference{Name: "install-1"}, Conditions: []v1alpha1.SubscriptionCondition{
		{Type: "Ready", Status: ready, Reason: reason, Message: "why it is so"}, {Type: "Stalled", Status: stalled, Reason: reason}}}
}

// TestInstallBySubscription ends with what came of it: a summary, what waits for approval, or why nothing more happens, and what to type next.
func TestInstallBySubscription(t *testing.T) {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "kites", Name: "kite.v1.0.0"}}
	csv.Spec.Version.Version = semver.MustParse("1.0.0")
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "kites", Name: "install-1"}}
	plan.Spec.ClusterServiceVersionNames, plan.Status.Phase = []string{"kite.v1.0.0"}, v1alpha1.InstallPlanPhaseRequiresApproval
	for name, test := range map[string]struct {
		status v1alpha1.SubscriptionStatus
		manual bool
		wait   time.Duration
		out    string
		err    []string
		code   int
	}{
		"it runs": {status: subscriptionStatus("True", "False", "Installed"), out: "✓ installed kite 1.0.0 in namespace kites\n"},
		"it waits for the approval that was asked for": {status: subscriptionStatus("False", "False", "RequiresApproval"), manual: true,
			out: "✓ InstallPlan install-1, which installs kite.v1.0.0, waits for approval: fairlead approve kite -n kites\n"},
		"it waits for an approval that was not": {status: subscriptionStatus("False", "False", "RequiresApproval"), code: command.ExitNo,
			err: []string{"Subscription kites/kite: InstallPlan install-1, which installs kite.v1.0.0, waits for approval: fairlead approve kite -n kites"}},
		"it has no solution": {status: subscriptionStatus("False", "True", "ResolutionFailed"), code: command.ExitNo,
			err: []string{"Subscription kites/kite: ResolutionFailed: why it is so\n", "To see the cause: fairlead why kite -n kites.", "To give up: fairlead uninstall kite -n kites"}},
		"it has failed": {status: subscriptionStatus("False", "True", "Failed"), code: command.ExitNo, err: []string{"Failed: why it is so\n", "To see the cause: fairlead status kite -n kites."}},
		"the time is over": {status: subscriptionStatus("False", "False", "Installing"), wait: 10 * time.Millisecond, code: command.ExitFailed,
			err: []string{"wait for Subscription kites/kite: it is not ready: why it is so\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			both := bothAPIs{Package: "kite", Wait: max(test.wait, 0)}
			if test.wait == 0 {
				both.Wait = time.Minute
			}
			var i subscriptionInstall
			i.options.Manual = test.manual
			out, errs, c, err := subscribed(t, both, i, test.status, csv.DeepCopy(), plan.DeepCopy())
			must.Equal(t, "exit code", command.Code(err), test.code)
			must.Equal(t, "notes", errs, "note: no namespace was chosen, with -n or in the kubeconfig's context: it is kites, which the operator suggests\n")
			sub := &v1alpha1.Subscription{}
			must.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "kites", Name: "kite"}, sub))
			must.Equal(t, "spec", *sub.Spec, v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable", CatalogSource: "toys", CatalogSourceNamespace: "olm", InstallPlanApproval: sub.Spec.InstallPlanApproval})
			if test.err == nil {
				must.NoError(t, err)
				if !strings.HasSuffix(out, test.out) {
					t.Errorf("%q has no %q", out, test.out)
				}
				return
			}
			must.Fail(t, "the install", err, test.err...)
			if n := strings.Count(out+err.Error(), "why it is so"); n > 1 {
				t.Errorf("the reason is printed %d times: %s%v", n, out, err)
			}
		})
	}
}

// TestInstallLooksUp: nothing is written where no catalog has what is asked for, nor by a dry run, which prints what would be.
func TestInstallLooksUp(t *testing.T) {
	for name, test := range map[string]struct {
		both     bothAPIs
		starting string
		out, err string
	}{
		"a package":              {both: bothAPIs{Package: "kitee"}, err: "install package kitee: no catalog has a package of that name; did you mean kite? fairlead search lists what there is"},
		"a channel":              {both: bothAPIs{Package: "kite", Channel: "stabel"}, err: "did you mean stable?"},
		"a version":              {both: bothAPIs{Package: "kite"}, starting: "kite.v2.0.0", err: "channel fast has one; add --channel fast"},
		"a dry run":              {both: bothAPIs{Package: "kite", DryRun: true}, out: "would create Namespace kites\nwould create OperatorGroup kites\nwould create Subscription kite\n"},
		"a dry run for programs": {both: bothAPIs{Package: "kite", DryRun: true, Output: command.OutputYAML, Channel: "fast"}, out: "  channel: fast\n"},
	} {
		t.Run(name, func(t *testing.T) {

			var i subscriptionInstall
			i.options.StartingCSV = test.starting
			out, _, c, err := subscribed(t, test.both, i, v1alpha1.SubscriptionStatus{})
			if test.err != "" {
				must.Fail(t, "the install", err, test.err)
				must.Equal(t, "exit code", command.Code(err), command.ExitNo)
			} else {
				must.NoError(t, err)
				must.Contain(t, "output", out, test.out)
			}
			for _, list := range []client.ObjectList{&v1alpha1.SubscriptionList{}, &corev1.NamespaceList{}} {
				must.NoError(t, c.List(t.Context(), list))
				if found := must.Value(listed(list))(t); found > 0 {
					t.Errorf("%T: %d were written", list, found)
				}
			}
		})
	}
}

func listed(list client.ObjectList) (int, error) {
	items, err := meta.ExtractList(list)
	return len(items), err
}
